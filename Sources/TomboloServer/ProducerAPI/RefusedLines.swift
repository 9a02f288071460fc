import TomboloAPI
import TomboloCore

/// The refused lines of a batch: how many, the first ones, and how many of one code come one behind
/// the other.
struct RefusedLines {
    /// After so many refusals of one code in a row, a line's answer is short.
    static let wholeMax = 10
    /// After so many lines in a row that are no command, the batch ends: it is no batch.
    static let idleMax = 1_000

    private var code: ProblemCode?
    private var (count, idle) = (0, 0)
    /// True if a line was accepted since the last `beginBlock`: its commit lets others go.
    private(set) var hasAccepted = false
    /// All refused lines, and the first `ServerDoors.linesKept` of them.
    private(set) var total = 0
    private(set) var first: [RequestEntry.Line] = []

    mutating func beginBlock() { hasAccepted = false }

    /// Counts a line. Returns true if its answer is short.
    mutating func take(_ result: BatchResult, isCommand: Bool) -> Bool {
        idle = isCommand ? 0 : idle + 1
        guard case .refused(_, _, let problem) = result else {
            (code, count, hasAccepted) = (nil, 0, true)
            return false
        }
        (code, count) = (problem.code, problem.code == code ? count + 1 : 1)
        return count > Self.wholeMax
    }

    /// Notes a refused line for the list of refused requests.
    mutating func note(_ problem: Problem, line: Int, of activity: Identifier?) {
        total += 1
        guard first.count < ServerDoors.linesKept else { return }
        let cause = RequestEntry.Cause(problem)
        first.append(RequestEntry.Line(line, cause, activity: activity ?? problem.activity))
    }

    /// Throws if the batch ends here.
    func endIfIdle() throws(Problem) {
        guard idle >= Self.idleMax else { return }
        throw Problem(
            .invalidJSON,
            "\(Self.idleMax) lines in a row are no commands, so the batch ends: this line and those "
                + "after it are not read. Each line is a JSON object such as {\"activity\":"
                + "\"order-1\",\"do\":\"update\",\"state\":{}}; correct them, and send the rest "
                + "again.")
    }
}
