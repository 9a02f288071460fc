import TomboloCore
import TomboloEventLog

// A disk that fills, and is freed.

extension Relay {
    /// Whether events are taken.
    package var isReady: Bool { unreadiness == nil }

    /// Whether it takes requests, be there room for events or not.
    package var isRunning: Bool { phase == .running && !writesAll }

    /// What everything is answered with now; nil while events are taken.
    var refusalOfAll: Answer? {
        guard phase == .running, !writesAll else { return Self.stopping }
        if silence.isSilent { return Self.silent }
        return roomHint.map { .refused(Refusal(.logFull, "the log has no room: \($0)")) }
    }

    static let stopping = Answer.refused(
        Refusal(.stopping, "the relay is stopping; whether this was stored is not known: ask again")
    )

    /// Why no event is taken, and what to do; nil where they are. A clock that is behind is no
    /// reason.
    package var unreadiness: String? {
        if followClock() { put(clockInput) }
        let hasRoom = lookForRoom()
        if let roomHint { return "No event is taken, for the log has no room: \(roomHint)." }
        if silence.isSilent { return "The log does not answer." }
        guard refusalOfAll == nil else { return "The relay stops, or has not begun." }
        return hasRoom ? nil : "No event is taken: \(Self.diskFull)."
    }

    /// Whether the log has room; a line says when it has no more, and when it has again.
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
