import TomboloAPI
import TomboloHTTP

extension DoorRequest {
    /// Header fields that may occur only once: a second value would be ignored.
    private static let single = [
        "authorization", "idempotency-key", "if-match", "if-none-match", "content-type",
        "content-encoding", "last-event-id",
    ]

    /// Refuses header fields that would be silently ignored.
    func checkFields() throws(Problem) {
        let fields = head.fields
        for name in Self.single where fields.values(name).count > 1 {
            throw Problem(.invalidHeader, "\(name) is given more than once. Give it once.")
        }
        // GET needs no idempotency key: it changes nothing.
        if route.method != "GET", !route.takesIdempotencyKey, fields.contains("idempotency-key") {
            throw Problem(
                .invalidHeader,
                "\(route.method) \(route.path.text) keeps no Idempotency-Key. Leave it away; "
                    + "lines of /v1/events have an id of their own, CloudEvents their source and id."
            )
        }
    }
}
