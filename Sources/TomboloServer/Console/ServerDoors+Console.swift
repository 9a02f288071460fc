import TomboloAPI
import TomboloHTTP

/// The console: files without access control, which use only the public API.
extension ServerDoors {
    func showConsoleFile(_ request: DoorRequest) throws(Problem) -> DoorResponse {
        try consoleFile(request.parameter("file"), request)
    }

    /// Answers `/console/`. Redirects a path without the final slash, because the page's relative
    /// addresses need it.
    func showConsole(_ request: DoorRequest) throws(Problem) -> DoorResponse {
        guard request.target.text.utf8.last == UInt8(ascii: "/") else {
            return DoorResponse(
                status: 308, fields: ["location": "/console/", "cache-control": "no-cache"],
                body: [])
        }
        return try consoleFile("index.html", request)
    }

    private func consoleFile(
        _ name: String, _ request: DoorRequest
    ) throws(Problem) -> DoorResponse {
        guard let whole = configuration.console.file(name) else {
            throw Problem(
                .unknownRoute, "The console has no file of this name. It begins at /console/.")
        }
        let compressed = request.head.fields.acceptsGzip ? whole.compressed : nil
        let file = compressed ?? whole
        var fields = Self.consoleFields
        fields.append("etag", file.entityTag)
        guard !request.head.fields.hasEntityTag(file.entityTag) else {
            return DoorResponse(status: 304, fields: fields, body: [])
        }
        fields.append("content-type", file.mediaType)
        if compressed != nil { fields.append("content-encoding", "gzip") }
        return DoorResponse(status: 200, fields: fields, body: file.body, isShared: true)
    }

    /// The fields of each console answer. They allow only the relay's own files and API: no inline
    /// script or style, no frame, no form, no other host, no script from text (Trusted Types).
    /// `data:` is for a tab icon that is shown without a connection. `no-cache` makes browsers
    /// revalidate each file, so that page and script always have the same version.
    private static let consoleFields: HTTPFields = [
        "content-security-policy":
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            + "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types console",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
        "cache-control": "no-cache",
        "vary": "accept-encoding",
    ]
}
