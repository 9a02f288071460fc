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
        if silence.isSilent { return Self.silent }
        return roomHint.map { .refused(Refusal(.logFull, "the log has no room: \($0)")) }
    }

    static let stopping = Answer.refused(
        Refusal(.stopping, "the relay is stopping; whether this was stored is not known: ask again")
    )

    /// Why no events are accepted, with the remedy; nil if they are. A wrong clock is no reason.
    package var unreadiness: String? {
        if followClock() { put(clockInput) }
        let hasRoom = lookForRoom()
        if let roomHint { return "No event is taken, for the log has no room: \(roomHint)." }
        if silence.isSilent { return "The log does not answer." }
        guard refusalOfAll == nil else { return "The relay stops, or has not begun." }
        return hasRoom ? nil : "No event is taken: \(Self.diskFull)."
    }

    /// True if the log has space. Reports when this changes.
    func lookForRoom() -> Bool {
        let hasRoom = log.hasRoom
        guard hasRoom != hadRoom else { return hasRoom }
        hadRoom = hasRoom
        report(
            hasRoom
                ? OperatorNote(
                    .info, .diskHasRoom, "the disk of the log has room again: events are taken")
                : OperatorNote(.error, .diskFull, Self.diskFull), of: .main)
        return hasRoom
    }

    static let logHasRoom = OperatorNote(
        .info, .logHasRoom, "the log has room again: events are taken")

    static func logFull(_ hint: String) -> OperatorNote {
        OperatorNote(.error, .logFull, "the log has no room, no event is taken", remedy: hint)
    }

    static let diskFull =
        "the disk of the log is nearly full: events are refused with 507 until there is room; free "
        + "some space on it"
}
