/// The pages of all problem codes.
package enum ProblemRegistry {
    /// The page of a code. Every code has one.
    package static func page(_ code: ProblemCode) -> ProblemPage {
        guard let page = byCode[code] else {
            preconditionFailure("the problem \(code.rawValue) has no page in ProblemRegistry")
        }
        return page
    }

    /// All pages, in the order of `ProblemCode`.
    package static var pages: [ProblemPage] { ProblemCode.allCases.map(page) }

    private static let byCode = Dictionary(
        uniqueKeysWithValues: (ofRequests + ofAccess + ofResources + ofTheRelay).map {
            ($0.code, $0)
        })

    private static let ofRequests = [
        ProblemPage(
            .invalidJSON, 400, "The body is not valid JSON",
            cause:
                "The body, or a line of it, does not follow RFC 8259. The problem names line and "
                + "column.",
            fix:
                "Correct the body at that place. Names must be unique and quoted, text must be UTF-8, "
                + "and nesting ends at 32 levels.",
            command: "python3 -m json.tool < body.json"),
        ProblemPage(
            .invalidHeader, 400, "A header field cannot be read",
            cause: "A header field that this relay acts on does not have the form it must have.",
            fix: "Write If-Match: \"v3\", If-None-Match: *, Prefer: wait=2, "
                + "Idempotency-Key: \"order-9931\" (1 to 255 bytes), Last-Event-ID: 1042.",
            command: "curl -i -H 'If-Match: \"v3\"' …"),
        ProblemPage(
            .invalidQuery, 400, "A query parameter cannot be used",
            cause:
                "The query has a parameter that this route does not know, or a value it cannot "
                + "use.",
            fix: "Use the parameters that /openapi.json lists for the route.",
            command: "curl http://127.0.0.1:8780/openapi.json"),
        ProblemPage(
            .malformedRequest, 400, "The request broke the rules of HTTP",
            cause: "The framing of the body, or a field of its head, is not what the RFCs allow.",
            fix: "Send the request with a client that follows RFC 9112 or RFC 9113.",
            command: "curl -v …"),
        ProblemPage(
            .unknownRoute, 404, "There is nothing at this path",
            cause: "No route of this relay has this path.",
            fix: "Look the path up in /openapi.json; all of the API is under /v1.",
            command: "curl http://127.0.0.1:8780/openapi.json"),
        ProblemPage(
            .methodNotAllowed, 405, "The path does not take this method",
            cause:
                "The path exists, but not with this method. The Allow field lists those it takes.",
            fix: "PUT starts an activity, PATCH updates it, POST …/end ends it.",
            command: "tombolo help"),
        ProblemPage(
            .requestTimeout, 408, "The body came too slowly",
            cause: "The body of the request stopped or came at less than 1 KiB a second.",
            fix: "Send the request again; for long batches send lines as they are made.",
            command: "tombolo append events.ndjson"),
        ProblemPage(
            .bodyTooLarge, 413, "The HTTP body is too large",
            cause:
                "A body, or a line of a batch, may have 64 KiB; an atomic batch 50 lines and "
                + "256 KiB, a dry run of a batch 3,000 lines and 16 MiB.",
            fix: "Send less at once: many events as lines of POST /v1/events without ?atomic=true.",
            command: "tombolo append events.ndjson"),
        ProblemPage(
            .unsupportedMediaType, 415, "The content type is not taken here",
            cause: "The body is declared as something that this route does not read.",
            fix: "Send application/json; to /v1/events send application/x-ndjson or CloudEvents.",
            command: "curl -H 'Content-Type: application/json' …"),
        ProblemPage(
            .clientClosedRequest, 499, "The client broke off",
            cause:
                "The client ended the connection, or reset the request, before its body was "
                + "whole. Nothing was done, and nobody reads this answer. The metric "
                + "and the log have it.",
            fix: "Look at the client's time limit, and at what lies between it and the relay.",
            command: "curl -v --max-time 30 …"),
    ]

    private static let ofAccess = [
        ProblemPage(
            .unauthorized, 401, "A valid API key is needed",
            cause: "There is no key, or not one that this relay has minted, or it was deleted.",
            fix: "Send Authorization: Bearer KEY with a key of this relay. A key of scope operate "
                + "makes others while the relay runs. Where there is none, stop the relay, make one "
                + "in its data directory, and start it again.",
            command: "tombolo key mint --scope produce,observe --relay ORIGIN --key KEY"),
        ProblemPage(
            .forbidden, 403, "The key does not allow this",
            cause: "The key is valid, but has no scope that covers this request.",
            fix:
                "Use a key with the scope that the problem names. A key of scope operate makes one "
                + "while the relay runs.",
            command: "tombolo key mint --scope produce,observe --relay ORIGIN --key KEY"),
        ProblemPage(
            .userNotBound, 403, "The key is not bound to this user or app",
            cause:
                "A device's key registers the device for the user and the app that the key is "
                + "bound to. A key without them sets neither.",
            fix:
                "Mint the key with the user and the app, register the device with a key of scope "
                + "operate, or leave both members out.",
            command: "tombolo key mint --scope device:phone-1 --user u42 --app com.example.app "
                + "--relay ORIGIN --key KEY"),
        ProblemPage(
            .keyOfFormerUser, 403, "The key is of a user who had the device before",
            cause:
                "The key was minted for one user, and the device has had another user since, or an "
                + "operator has forgotten its user, or has erased the device.",
            fix:
                "Mint a key for the user who has signed in. At sign-out delete the key, then "
                + "register the device with \"user\":null, and mint the next key after that.",
            command: "tombolo key mint --scope device:phone-1 --user u42 --relay ORIGIN --key KEY"),
        ProblemPage(
            .keyNotSignedIn, 403, "The key's user has not signed in on the device",
            cause:
                "The device has another user than the key, or none, or the key is bound to no user "
                + "and the device has one. Only the device's own PUT signs a key's user in.",
            fix:
                "PUT the device with this key, then send the request again. A key without a user is "
                + "for devices without users: mint one with the user.",
            command: "tombolo device check phone-1 --relay ORIGIN --key KEY"),
    ]
}
