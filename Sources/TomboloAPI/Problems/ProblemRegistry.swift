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
                "The body, or a line of it, does not follow RFC 8259. The problem names line "
                + "and column.",
            fix:
                "Correct the body at that place. Names must be unique and in quotes, text must "
                + "be UTF-8, and at most 32 levels may be nested.",
            command: "python3 -m json.tool < body.json"),
        ProblemPage(
            .invalidHeader, 400, "A header field is not valid",
            cause: "A header field that the relay uses does not have the required form.",
            fix: "Write If-Match: \"v3\", If-None-Match: *, Prefer: wait=2, "
                + "Idempotency-Key: \"order-9931\" (1 to 255 bytes), Last-Event-ID: 1042.",
            command: "curl -i -H 'If-Match: \"v3\"' …"),
        ProblemPage(
            .invalidQuery, 400, "A query parameter is not valid",
            cause:
                "The query has a parameter that this route does not know, or a value that is "
                + "not allowed.",
            fix: "Use the parameters that /openapi.json lists for the route.",
            command: "curl http://127.0.0.1:8780/openapi.json"),
        ProblemPage(
            .malformedRequest, 400, "The request is not valid HTTP",
            cause: "The framing of the body, or a header field, does not follow the RFCs.",
            fix: "Send the request with a client that follows RFC 9112 or RFC 9113.",
            command: "curl -v …"),
        ProblemPage(
            .unknownRoute, 404, "There is nothing at this path",
            cause: "No route of this relay has this path.",
            fix: "Look for the path in /openapi.json. All paths of the API begin with /v1.",
            command: "curl http://127.0.0.1:8780/openapi.json"),
        ProblemPage(
            .methodNotAllowed, 405, "The path does not support this method",
            cause:
                "The path exists, but not with this method. The field Allow lists the methods "
                + "of the path.",
            fix: "PUT starts an activity, PATCH updates it, POST …/end ends it.",
            command: "tombolo help"),
        ProblemPage(
            .requestTimeout, 408, "The body was sent too slowly",
            cause: "The body stopped, or was sent at less than 1 KiB a second.",
            fix:
                "Send the request again. For long batches, send each line as soon as you have "
                + "it.",
            command: "tombolo append events.ndjson"),
        ProblemPage(
            .bodyTooLarge, 413, "The HTTP body is too large",
            cause:
                "A body, or a line of a batch, may have 64 KiB. An atomic batch may have 50 "
                + "lines and 256 KiB, a dry run of a batch 3,000 lines and 16 MiB.",
            fix:
                "Send less in one request: send many events as lines to POST /v1/events "
                + "without ?atomic=true.",
            command: "tombolo append events.ndjson"),
        ProblemPage(
            .unsupportedMediaType, 415, "The content type is not supported here",
            cause: "The request declares a content type that this route cannot read.",
            fix: "Send application/json; to /v1/events send application/x-ndjson or CloudEvents.",
            command: "curl -H 'Content-Type: application/json' …"),
        ProblemPage(
            .clientClosedRequest, 499, "The client closed the request",
            cause:
                "The client closed the connection or reset the request before the body was "
                + "complete. The relay did nothing. Nobody receives this answer, but the "
                + "metric and the log count it.",
            fix: "Check the client's time limit, and the proxies between client and relay.",
            command: "curl -v --max-time 30 …"),
    ]

    private static let ofAccess = [
        ProblemPage(
            .unauthorized, 401, "A valid API key is needed",
            cause:
                "The request has no key, or a key that this relay did not create, or a deleted "
                + "key.",
            fix:
                "Send Authorization: Bearer KEY with a key of this relay. A key of scope "
                + "operate creates others while the relay runs. If you have none, stop the "
                + "relay, create one in its data directory, and start it again.",
            command: "tombolo key mint --scope produce,observe --relay ORIGIN --key KEY"),
        ProblemPage(
            .forbidden, 403, "The key does not allow this",
            cause: "The key is valid, but has no scope for this request.",
            fix:
                "Use a key with the scope that the problem names. A key of scope operate "
                + "creates one while the relay runs.",
            command: "tombolo key mint --scope produce,observe --relay ORIGIN --key KEY"),
        ProblemPage(
            .userNotBound, 403, "The key is not bound to this user or app",
            cause:
                "A device's key can register the device only for the user and the app of the "
                + "key. A key without user or app cannot set them.",
            fix:
                "Create the key with the user and the app, or register the device with a key "
                + "of scope operate, or leave both members out.",
            command: "tombolo key mint --scope device:phone-1 --user u42 --app com.example.app "
                + "--relay ORIGIN --key KEY"),
        ProblemPage(
            .keyOfFormerUser, 403, "The key belongs to an earlier user of the device",
            cause:
                "The key was created for one user. Since then the device had another user, or "
                + "an operator has erased the device or forgotten its user.",
            fix:
                "Create a key for the user who has signed in. At sign-out delete the key, then "
                + "register the device with \"user\":null, and create the next key after that.",
            command: "tombolo key mint --scope device:phone-1 --user u42 --relay ORIGIN --key KEY"),
        ProblemPage(
            .keyNotSignedIn, 403, "The key's user has not signed in on the device",
            cause:
                "The device has another user than the key, or none, or the key has no user and "
                + "the device has one. Only the device's own PUT signs the key's user in.",
            fix:
                "PUT the device with this key, then send the request again. A key without a "
                + "user is for devices without users: create a key with the user.",
            command: "tombolo device check phone-1 --relay ORIGIN --key KEY"),
    ]
}
