package import TomboloCore

/// Precautions for reading a log at start-up, after earlier processes have crashed.
package struct LogCaution: Sendable {
    /// Records the activity that is being processed.
    package var note: WorkNote?
    /// For each activity, how often earlier processes crashed while they worked on it. Such
    /// activities are set aside.
    package var trapped: [ActivityNumber: Int] = [:]

    /// No precautions.
    package init() {}

    /// - Parameter trapped: the counts of all subjects. Only activities are used.
    package init(note: WorkNote?, trapped: [WorkNote.Subject: Int]) {
        self.note = note
        for (subject, count) in trapped where subject.space == nil {
            self.trapped[ActivityNumber(subject.number)] = count
        }
    }
}
