import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloLoop
import TomboloRelay

/// Notes for the operator about requests that were refused or failed: so that the `trace_id` of an
/// answer is found again. Refusals cost their sender nothing, so there are so many and no more;
/// failures have an allowance of their own, which no refusal takes away.
///
/// A note names fields by their pointers and never has their values: these may be secrets.
struct ProblemNotes {
    /// At once, and in each second after.
    static let burst = 100
    static let perSecond = 10

    private var refusals: HTTPAllowance
    private var failures: HTTPAllowance
    private var leftOut = 0

    init(now: MonotonicInstant) {
        refusals = HTTPAllowance(burst: Self.burst, perSecond: Self.perSecond, now: now)
        failures = refusals
    }

    /// What is to be noted of a problem: nothing where there were too many, and where there is room
    /// again how many were left out.
    mutating func notes(
        of problem: Problem, _ request: Request, now: MonotonicInstant
    ) -> [OperatorNote] {
        let isFailure = problem.status >= 500
        let isTaken = isFailure ? failures.take(now: now) : refusals.take(now: now)
        guard isTaken else {
            leftOut += 1
            return []
        }
        var notes: [OperatorNote] = []
        if leftOut > 0 {
            notes.append(
                OperatorNote(
                    .warning, .notesLeftOut,
                    "\(leftOut) requests more were refused or failed, and have no line"))
            leftOut = 0
        }
        notes.append(Self.note(of: problem, request))
        return notes
    }

    /// What a note says of a request.
    struct Request {
        var method: String
        /// Nil where no route was found.
        var operation: Operation?
        var traceID: String
        var tenant: String?
        var keyID: String?
        /// The client's, where it has no valid key.
        var address: String?
    }

    private static func note(of problem: Problem, _ request: Request) -> OperatorNote {
        let what = request.operation?.rawValue ?? "\(request.method) of an unknown path"
        let answer = "\(problem.status) \(problem.code.rawValue)"
        // The relay's own trouble: its words are the relay's.
        let note =
            problem.status >= 500
            ? OperatorNote(
                level(of: problem), .requestFailed, "\(what) fails: \(answer): \(problem.detail)")
            : OperatorNote(level(of: problem), .requestRefused, "\(what) is refused: \(answer)")
        let pointers = problem.errors.prefix(8).map(\.pointer).joined(separator: " ")
        return note.adding("trace_id", request.traceID)
            .adding("operation", request.operation?.rawValue)
            .adding("status", "\(problem.status)")
            .adding("code", problem.code.rawValue)
            .adding("tenant", request.tenant)
            .adding("key", request.keyID)
            .adding("from", request.address)
            .adding("fields", pointers.isEmpty ? nil : pointers)
    }

    private static func level(of problem: Problem) -> OperatorNote.Level {
        switch problem.code {
        case .internalError, .logUnreadable, .logFull, .eventDamaged: .error
        case .overloaded, .limitReached: .warning
        default: problem.status >= 500 ? .warning : .info
        }
    }
}
