package import TomboloCore

/// What a log heeds when it is read at start-up, after processes before it have trapped.
package struct LogCaution: Sendable {
    /// Where it notes the activity that it works on.
    package var note: WorkNote?
    /// Activities that processes before have trapped over, and how often: they are set aside.
    package var trapped: [ActivityNumber: Int] = [:]

    /// None.
    package init() {}

    /// - Parameter trapped: of all subjects, those that are activities count here.
    package init(note: WorkNote?, trapped: [WorkNote.Subject: Int]) {
        self.note = note
        for (subject, count) in trapped where subject.space == nil {
            self.trapped[ActivityNumber(subject.number)] = count
        }
    }
}
