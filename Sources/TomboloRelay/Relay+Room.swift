import TomboloCore
import TomboloEventLog

// Handles a disk that becomes full, or that has space again.

extension Relay {
    /// True if events are accepted.
    package var isReady: Bool { unreadiness == nil }

    /// True if the relay accepts requests, even if there is no space for events.
    package var isRunning: Bool { phase == .running && !writesAll }

    /// The answer that every request gets now; nil while events are accepted.
    var refusalOfAll: Answer? {
        guard phase == .running, !writesAll else { return Self.stopping }
        if silence.isSilent || !log.isOwned {
            // A database whose disk is full may be silent, too.
            return lookForRoom() ? Self.silent : .refused(Refusal(.logFull, Self.diskFull))
        }
        return switch refusing {
        case .full(let hint): .refused(Refusal(.logFull, "the log has no room: \(hint)"))
        case .unavailable(let cause, _): .refused(Refusal(.logUnavailable, Self.refuses(cause)))
        default: nil
        }
    }

    private static func refuses(_ cause: String) -> String {
        "the log stores nothing now: \(cause); ask again, with the same Idempotency-Key"
    }

    static let stopping = Answer.refused(
        Refusal(.stopping, "the relay is stopping; whether this was stored is not known: ask again")
    )

    /// Why no events are accepted, with the remedy; nil if they are. A wrong clock is no reason.
    package var unreadiness: String? {
        if followClock() { put(clockInput) }
        let hasRoom = lookForRoom()
        switch refusing {
        case .full(let hint): return "No event is taken, for the log has no room: \(hint)."
        case .unavailable(let cause, let hint):
            return "No event is taken, for the log stores nothing now: \(cause). To do: \(hint)."
        default: break
        }
        if silence.isSilent || !log.isOwned, hasRoom { return "The log does not answer." }
        guard hasRoom else { return "No event is taken: \(Self.diskFull)." }
        guard refusalOfAll == nil else { return "The relay stops, or has not begun." }
        return nil
    }

    /// True if the log has space. Reports when this changes.
    func lookForRoom() -> Bool {
        let hasRoom = log.hasRoom(now: steadyNow())
        guard hasRoom != hadRoom else { return hasRoom }
        hadRoom = hasRoom
        report(
            hasRoom
                ? OperatorNote(
                    .info, .diskHasRoom, "the disk of the log has room again: events are taken")
                : OperatorNote(.error, .diskFull, Self.diskFull), of: .main)
        return hasRoom
    }

    static func endNote(_ refusing: EventLogError) -> OperatorNote {
        guard case .full = refusing else {
            return OperatorNote(.info, .logAnswers, "the log stores again: events are taken")
        }
        return OperatorNote(.info, .logHasRoom, "the log has room again: events are taken")
    }

    static func refusalNote(_ refusing: EventLogError) -> OperatorNote {
        switch refusing {
        case .unavailable(let cause, let hint):
            OperatorNote(
                .error, .logUnavailable, "the log stores nothing now, no event is taken: \(cause)",
                remedy: hint)
        case .full(let hint):
            OperatorNote(.error, .logFull, "the log has no room, no event is taken", remedy: hint)
        default: OperatorNote(.error, .logUnavailable, "the log: \(refusing)")
        }
    }

    static let diskFull =
        "the disk of the log is nearly full: events are refused with 507 until there is room; free "
        + "some space on it"
}
