import TomboloAPI
import TomboloHTTP

extension DoorRequest {
    /// Fields that this relay acts on, each at most once: of two values one would be passed over.
    private static let single = [
        "authorization", "idempotency-key", "if-match", "if-none-match", "content-type",
        "content-encoding", "last-event-id",
    ]

    /// Refuses fields of the head that would be passed over in silence.
    func checkFields() throws(Problem) {
        let fields = head.fields
        for name in Self.single where fields.values(name).count > 1 {
            throw Problem(.invalidHeader, "\(name) is given more than once. Give it once.")
        }
        // GET changes nothing, however often it is sent.
        if route.method != "GET", !route.takesIdempotencyKey, fields.contains("idempotency-key") {
            throw Problem(
                .invalidHeader,
                "\(route.method) \(route.path.text) keeps no Idempotency-Key. Leave it away; "
                    + "lines of /v1/events have an id of their own, CloudEvents their source and id."
            )
        }
    }
}
