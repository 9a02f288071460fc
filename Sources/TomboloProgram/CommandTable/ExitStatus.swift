/// The exit status of the program. Scripts rely on them, so a number keeps its meaning.
package enum ExitStatus: Int32, Hashable, Sendable, CaseIterable {
    case succeeded = 0
    /// Any failure that has no number of its own.
    case failed = 1
    /// The command line or the configuration is wrong. Nothing was done.
    case usage = 2
    /// An object does not exist, or its state forbids the request (HTTP 404, 409, 410, 412).
    case notFoundOrConflict = 3
    /// The key is missing, wrong, or lacks the scope (HTTP 401, 403).
    case unauthorized = 4
    /// No relay answered.
    case unreachable = 5
    /// A part succeeded and the rest was refused.
    case partly = 6
    /// The command succeeded, but a lint found something; or `doctor` found a fault that is not the
    /// relay's.
    case lint = 7
    /// The reader of stdout has closed it: 128 and the number of SIGPIPE, as a shell reports it.
    case closedPipe = 141

    /// The meaning, as `help` prints it.
    var meaning: String {
        switch self {
        case .succeeded: "done"
        case .failed: "failed"
        case .usage: "wrong command line or configuration; nothing was done"
        case .notFoundOrConflict: "not found, or in conflict with what is there"
        case .unauthorized: "key missing, wrong, or without the scope"
        case .unreachable: "the relay cannot be reached"
        case .partly: "some were done, some refused"
        case .lint: "a lint has something to say, or the fault is not the relay's"
        case .closedPipe: "the reader of stdout has closed it, as head does"
        }
    }

    init(httpStatus: Int) {
        switch httpStatus {
        case 200..<300: self = .succeeded
        case 401, 403: self = .unauthorized
        case 404, 409, 410, 412: self = .notFoundOrConflict
        default: self = .failed
        }
    }
}
