import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloLoop

extension DoorRequest {
    /// The content type without parameters, in lower case; nil if there is none.
    var mediaType: String? {
        guard let field = head.fields["content-type"] else { return nil }
        let essence = field.split(separator: ";", maxSplits: 1).first ?? ""
        return essence.filter { $0 != " " && $0 != "\t" }.lowercased()
    }

    /// The default of `curl --data`: it counts as no content type.
    static let unspoken = "application/x-www-form-urlencoded"

    /// Throws for an encoded body: the relay does not decode, so its bytes would be misread.
    func checkCoding() throws(Problem) {
        guard let coding = head.fields["content-encoding"], coding.lowercased() != "identity" else {
            return
        }
        throw Problem(
            .unsupportedMediaType,
            "Content-Encoding: \(coding) is not read here. Send the body as it is.")
    }

    func checkIsJSON() throws(Problem) {
        try checkCoding()
        guard let mediaType, mediaType != Self.unspoken, mediaType != "application/json",
            !(mediaType.hasPrefix("application/") && mediaType.hasSuffix("+json"))
        else { return }
        throw Problem(
            .unsupportedMediaType,
            "\(mediaType) is not read here. Send Content-Type: application/json.")
    }

    /// Waits for the tenant's turn; call it before the work of a request.
    func takeTurn() async {
        if let principal { _ = await turns.enter(principal.tenant) }
    }

    /// Returns the whole body when the tenant has its turn, and checks the key again.
    func body(atMost bytesMax: Int) async throws(Problem) -> [UInt8] {
        let bytes: [UInt8]
        do throws(HTTPExchangeError) {
            bytes = try await time.leavingOut { () async throws(HTTPExchangeError) in
                try await exchange.body(atMost: bytesMax)
            }
        } catch {
            throw Problem(error, bytesMax: bytesMax)
        }
        await takeTurn()
        try checkKey()
        return bytes
    }

    /// The body as JSON in its shortest spelling, so that no white space and no needless escape is
    /// stored or pushed. With `orEmpty` a missing body counts as an empty object. What is done with
    /// a large body has a turn of its own.
    func json(atMost bytesMax: Int, orEmpty: Bool = false) async throws(Problem) -> JSONDocument {
        let sent = try await sentJSON(atMost: bytesMax, orEmpty: orEmpty)
        if sent.bytes.count > Self.bytesOfTurn { await takeTurn() }
        return sent.shortest ?? sent
    }

    /// Most bytes of JSON that one turn reads and applies. A MiB of many small values, read and
    /// applied in one turn, is beyond the bound of a request (`doors --seed 3`).
    static let bytesOfTurn = 262_144

    /// The body as JSON with the bytes as sent, to compute a digest of them.
    func sentJSON(
        atMost bytesMax: Int, orEmpty: Bool = false
    ) async throws(Problem) -> JSONDocument {
        try checkIsJSON()
        var bytes = try await body(atMost: bytesMax)
        if bytes.isEmpty {
            guard orEmpty else {
                throw Problem(.invalidJSON, "The body is empty. Send a JSON object.")
            }
            bytes = JSON.emptyObject.bytes
        }
        do { return try JSONDocument(bytes, limits: .received) } catch { throw Problem(error) }
    }
}

extension ServerDoors {
    /// What `reading` makes of the request's body.
    ///
    /// - Parameter bytesMax: most bytes of the body; nil: those of an event.
    func read<Value>(
        _ request: DoorRequest, atMost bytesMax: Int? = nil, orEmpty: Bool = false,
        _ reading: (JSONView) throws(FieldErrors) -> Value
    ) async throws(Problem) -> Value {
        let document = try await request.json(
            atMost: bytesMax ?? configuration.bodyBytesMax, orEmpty: orEmpty)
        do { return try reading(document.root) } catch { throw Problem(error) }
    }
}

extension Problem {
    /// The problem for a body that could not be read. If the client is gone, it is not sent.
    init(_ error: HTTPExchangeError, bytesMax: Int) {
        switch error {
        case .bodyTooLarge:
            self.init(.bodyTooLarge, "The body has more than \(bytesMax) bytes. Send less at once.")
        case .bodyTooSlow:
            self.init(.requestTimeout, "The body came too slowly. Send the request again.")
        case .bodyMalformed:
            self.init(
                .malformedRequest, "The body broke the framing of its request. Use another client.")
        case .peerGone, .peerStalled:
            self.init(.clientClosedRequest, "The client broke off in the middle of the body.")
        case .cancelled:
            self.init(.stopping, "The request was given up. Send it again.")
        }
    }
}
