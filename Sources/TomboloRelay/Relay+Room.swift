import TomboloEventLog

// A disk that fills, and is freed.

extension Relay {
    /// Whether the log has room; a line says when it has no more, and when it has again.
    func lookForRoom() -> Bool {
        let hasRoom = log.hasRoom
        guard hasRoom != hadRoom else { return hasRoom }
        hadRoom = hasRoom
        complain(
            hasRoom
                ? "the disk of the log has room again: events are taken"
                : "the disk of the log is nearly full: events are refused with 507 until there is "
                    + "room; free some space on it")
        return hasRoom
    }
}
