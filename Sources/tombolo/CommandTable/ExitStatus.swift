/// What the program tells its caller when it ends. Scripts rely on the numbers; a meaning is never
/// reused.
enum ExitStatus: Int32, Hashable, Sendable, CaseIterable {
    case succeeded = 0
    /// Something went wrong that no other number says better.
    case failed = 1
    /// The command line or the configuration is wrong; nothing was done.
    case usage = 2
    /// What was named is not there, or stands against what was asked (HTTP 404, 409, 412).
    case notFoundOrConflict = 3
    /// The key is missing, wrong, or lacks the scope (HTTP 401, 403).
    case unauthorized = 4
    /// No relay answered.
    case unreachable = 5
    /// Some of many were done, others were refused.
    case partly = 6
    /// Done, but a lint has something to say.
    case lint = 7

    /// The words for `help`.
    var meaning: String {
        switch self {
        case .succeeded: "done"
        case .failed: "failed"
        case .usage: "wrong command line or configuration; nothing was done"
        case .notFoundOrConflict: "not found, or in conflict with what is there"
        case .unauthorized: "key missing, wrong, or without the scope"
        case .unreachable: "the relay cannot be reached"
        case .partly: "some were done, some refused"
        case .lint: "a lint has something to say"
        }
    }

    /// The status that an HTTP status of the relay becomes.
    init(httpStatus: Int) {
        switch httpStatus {
        case 200..<300: self = .succeeded
        case 401, 403: self = .unauthorized
        case 404, 409, 410, 412: self = .notFoundOrConflict
        default: self = .failed
        }
    }
}
