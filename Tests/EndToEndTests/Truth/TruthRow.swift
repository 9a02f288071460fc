import Glibc
import Testing

/// One state of the relay, and what each who is asked must say of it.
struct TruthRow: CustomTestStringConvertible, Sendable {
    typealias Answer = (status: Int, text: String)
    typealias Exit = (status: Int32, text: String)

    var state: String
    var hasApp = true
    /// How faketime(1) reads the clock at which a certificate of 30 days is made; nil: clear text.
    var certificate: String?
    /// The log is on a file system of its own, small enough to fill; needs root.
    var hasSmallDisk = false
    /// The relay's clock can be set, by libfaketime.
    var hasOwnClock = false
    /// Its monotonic clock moves too, as if the time had passed.
    var isTimePassing = false
    /// Brings the state about.
    var bring: @Sendable (TruthBench) throws -> Void = { _ in }
    /// What a producer asks, and what it is answered.
    var ask = (method: "PATCH", path: "/v1/activities/cat", body: #"{"state":{"lap":9}}"#)
    var answer: Answer
    /// What neither that answer nor the command says, for nobody knows it.
    var never: String?
    var ready: Answer = (200, "ready")
    /// A line of `/metrics`; nil: it cannot be asked.
    var metrics: String? = "tombolo_ready 1"
    /// Part of a line on stderr; nil: nothing need be there.
    var stderr: String?
    var doctor: Exit = (0, "takes events")
    /// A command, its status, and a part of what it prints on either stream; `WORK` in it is the
    /// bench's directory.
    var cli: (words: [String], exit: Exit)

    var testDescription: String { state }

    static func start(_ id: String, _ fields: String) -> (
        method: String, path: String, body: String
    ) {
        (
            "PUT", "/v1/activities/\(id)",
            "{\(fields),\"state\":{\"lap\":1},\"alert\":{\"title\":\"a\"}}"
        )
    }
}
