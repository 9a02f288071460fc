/// A message for the operator. Its output format is chosen elsewhere.
package struct OperatorNote: Hashable, Sendable {
    /// Urgency of a note.
    package enum Level: String, Hashable, Sendable, CaseIterable {
        /// Everything is in order.
        case info
        /// Something waits or will wait soon: check it today.
        case warning
        /// Something is refused or lost until an operator does something.
        case error
    }

    /// What happened: a keyword for searches.
    package enum Event: String, Hashable, Sendable, CaseIterable {
        case started
        case waiting
        case stopped
        case lastRun = "last-run"
        case upstreamClosed = "upstream-closed"
        case upstreamOpen = "upstream-open"
        case logFull = "log-full"
        case logHasRoom = "log-has-room"
        case logSilent = "log-silent"
        case logUnavailable = "log-unavailable"
        case logAnswers = "log-answers"
        case diskFull = "disk-full"
        case diskHasRoom = "disk-has-room"
        case clockBehind = "clock-behind"
        case clockRight = "clock-right"
        case clockAhead = "clock-ahead"
        case flood
        case busyKey = "busy-key"
        case damage
        case certificate
        case configurationNotice = "config-notice"
        case configurationApplied = "config-applied"
        case configurationNeedsRestart = "config-needs-restart"
        case configurationRefused = "config-refused"
        case deed
        case keyDeleted = "key-deleted"
        case requestRefused = "request-refused"
        case requestFailed = "request-failed"
        case notesLeftOut = "notes-left-out"
    }

    /// A named value beside the text, for searches by programs.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    package var level: Level
    package var event: Event
    /// One sentence without a full stop.
    package var text: String
    package private(set) var fields: [Field] = []
    /// The remedy, as a command if there is one.
    package var remedy: String?

    package init(
        _ level: Level, _ event: Event, _ text: String, remedy: String? = nil
    ) {
        self.level = level
        self.event = event
        self.text = text
        self.remedy = remedy
    }

    /// The note with one more value; nil adds none.
    package func adding(_ name: String, _ value: String?) -> OperatorNote {
        guard let value else { return self }
        var note = self
        note.fields.append(Field(name: name, value: value))
        return note
    }
}
