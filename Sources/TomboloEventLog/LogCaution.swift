package import TomboloCore

/// Precautions when a log is read at start-up, after earlier processes have trapped.
package struct LogCaution: Sendable {
    /// Records the activity that is being processed.
    package var note: WorkNote?
    /// Activities on which earlier processes trapped, and how often. They are set aside.
    package var trapped: [ActivityNumber: Int] = [:]

    /// No precautions.
    package init() {}

    /// - Parameter trapped: all subjects; only activities are used.
    package init(note: WorkNote?, trapped: [WorkNote.Subject: Int]) {
        self.note = note
        for (subject, count) in trapped where subject.space == nil {
            self.trapped[ActivityNumber(subject.number)] = count
        }
    }
}
