import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloLoop
import TomboloRelay

/// Notes for the operator about refused or failed requests, so that the `trace_id` of an answer can
/// be found in the log. Refusals cost their sender nothing, so their notes are limited; failures
/// have a limit of their own. Each tenant has its own limits, and so have all clients without a
/// valid key together.
///
/// A note names fields by their pointers and never contains values, which may be secrets.
struct ProblemNotes {
    /// Notes at once, and in each second after that.
    static let burst = 100
    static let perSecond = 10

    /// Requests refused because the log is full, since the last line about them; nil: none.
    private var full: Int?
    /// Requests answered with 429, by the key's id and tenant.
    private var slowed: [Sender: Int] = [:]
    /// Fewest 429 answers in a minute that are worth a line.
    static let floodMin = 60
    /// Stored events, by the key's id and tenant.
    private var stored: [Sender: Int] = [:]
    /// Fewest events of one key in a minute that are worth a line: 100 in each second.
    static let busyMin = 6_000
    /// Most keys that are counted.
    private static let sendersMax = 1_000

    /// The sender of a request.
    struct Sender: Hashable {
        let key: String
        let tenant: String
    }

    /// The remaining notes of one tenant.
    private struct Share {
        var refusals: HTTPAllowance
        var failures: HTTPAllowance
        var leftOut = 0

        init(now: MonotonicInstant) {
            refusals = HTTPAllowance(
                burst: ProblemNotes.burst, perSecond: ProblemNotes.perSecond, now: now)
            failures = refusals
        }
    }

    /// By the tenant's name; nil: without a valid key. Bounded by the number of tenants with keys.
    private var shares: [String?: Share] = [:]

    /// The notes for a problem: none if there were too many; later one with the number left out.
    mutating func notes(
        of problem: Problem, _ request: Request, now: MonotonicInstant
    ) -> [OperatorNote] {
        if problem.status == 429, let key = request.keyID {
            let sender = Sender(key: key, tenant: request.tenant ?? "")
            if slowed.count < Self.sendersMax || slowed[sender] != nil {
                slowed[sender, default: 0] += 1
            }
        }
        if problem.code == .logFull {
            // A full disk has its own line: note one request with its trace id, then only count.
            if let count = full {
                full = count + 1
                return []
            }
            full = 0
        }
        let isFailure = problem.status >= 500
        var share = shares[request.tenant] ?? Share(now: now)
        defer { shares[request.tenant] = share }
        let isTaken = isFailure ? share.failures.take(now: now) : share.refusals.take(now: now)
        guard isTaken else {
            share.leftOut += 1
            return []
        }
        var notes: [OperatorNote] = []
        if share.leftOut > 0 {
            notes.append(
                OperatorNote(
                    .warning, .notesLeftOut,
                    "\(share.leftOut) requests more were refused or failed, and have no line"
                ).adding("tenant", request.tenant))
            share.leftOut = 0
        }
        notes.append(Self.note(of: problem, request))
        return notes
    }

    /// Counts stored events.
    mutating func stored(_ count: Int, by sender: Sender) {
        guard stored.count < Self.sendersMax || stored[sender] != nil else { return }
        stored[sender, default: 0] += count
    }

    private static func most(_ counts: [Sender: Int]) -> (key: Sender, value: Int)? {
        counts.max { ($0.value, $1.key.key) < ($1.value, $0.key.key) }
    }

    /// The notes about the counts since the last call; call it once a minute.
    ///
    /// - Parameter isFull: true if the log is full now.
    mutating func gathered(isFull: Bool) -> [OperatorNote] {
        var notes: [OperatorNote] = []
        if let count = full {
            if count > 0 {
                notes.append(
                    OperatorNote(
                        .error, .requestFailed,
                        "\(count) requests more were answered 507 log-full: the disk is full"
                    )
                    .adding("code", ProblemCode.logFull.rawValue))
            }
            full = isFull ? 0 : nil
        }
        if let worst = Self.most(slowed), worst.value >= Self.floodMin {
            notes.append(
                OperatorNote(
                    .warning, .flood,
                    "one key sends more than it may: \(worst.value) requests were answered 429 "
                        + "within a minute",
                    remedy: "tombolo key ls --tenant \(worst.key.tenant) names it; tombolo key rm "
                        + "\(worst.key.key) stops it"
                )
                .adding("tenant", worst.key.tenant).adding("key", worst.key.key)
                .adding("refused", "\(worst.value)"))
        }
        slowed = [:]
        if let busy = Self.most(stored), busy.value >= Self.busyMin {
            notes.append(
                OperatorNote(
                    .info, .busyKey,
                    "one key stored \(busy.value) events within a minute",
                    remedy: "tombolo key ls --tenant \(busy.key.tenant) names it; tombolo log ls "
                        + "--by \(busy.key.key) shows what it did"
                )
                .adding("tenant", busy.key.tenant).adding("key", busy.key.key)
                .adding("events", "\(busy.value)"))
        }
        stored = [:]
        return notes
    }

    /// The part of a request that a note contains.
    struct Request {
        var method: String
        /// Nil if no route was found.
        var operation: Operation?
        var traceID: String
        var tenant: String?
        var keyID: String?
        /// The client's address, if the request has no valid key.
        var address: String?
    }

    private static func note(of problem: Problem, _ request: Request) -> OperatorNote {
        let what = request.operation?.rawValue ?? "\(request.method) of an unknown path"
        let answer = "\(problem.status) \(problem.code.rawValue)"
        // A failure's text comes from the relay itself, so it may be shown.
        let note =
            problem.status >= 500
            ? OperatorNote(
                level(of: problem), .requestFailed, "\(what) fails: \(answer): \(problem.detail)")
            : OperatorNote(level(of: problem), .requestRefused, "\(what) is refused: \(answer)")
        let pointers = problem.errors.prefix(8).map { Self.short($0.pointer) }
            .joined(separator: " ")
        return note.adding("trace_id", request.traceID)
            .adding("operation", request.operation?.rawValue)
            .adding("status", "\(problem.status)")
            .adding("code", problem.code.rawValue)
            .adding("tenant", request.tenant)
            .adding("key", request.keyID)
            .adding("from", request.address)
            .adding("fields", pointers.isEmpty ? nil : pointers)
    }

    /// A pointer may contain a member's name that the client has chosen, of any length.
    private static let pointerMax = 128

    private static func short(_ pointer: String) -> String {
        let scalars = pointer.unicodeScalars
        guard scalars.count > pointerMax else { return pointer }
        return String(String.UnicodeScalarView(scalars.prefix(pointerMax))) + "…"
    }

    private static func level(of problem: Problem) -> OperatorNote.Level {
        switch problem.code {
        case .internalError, .logUnreadable, .logFull, .logSilent, .logUnavailable, .eventDamaged:
            .error
        case .overloaded, .limitReached: .warning
        default: problem.status >= 500 ? .warning : .info
        }
    }
}
