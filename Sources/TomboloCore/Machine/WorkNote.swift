/// A word in which a core notes its present work. It survives the process: after a trap, the next
/// process reads the subject, and sets it aside if it traps again.
///
/// A note costs one store. Used by one core on one thread.
package struct WorkNote: @unchecked Sendable {
    // Sendable: only the loop's thread writes the word; a signal's handler reads it.
    private let word: UnsafeMutablePointer<Int64>

    /// - Parameter word: must stay valid for as long as the core lives.
    package init(_ word: UnsafeMutablePointer<Int64>) { self.word = word }

    /// The present work: a row of the log that start-up can leave out.
    package struct Subject: Hashable, Sendable {
        /// The space of the record; nil for an activity.
        package var space: RecordSpace?
        package var number: Int64

        package init(_ space: RecordSpace?, _ number: Int64) {
            self.space = space
            self.number = number
        }

        /// The subject as a word; 0 means none.
        package var word: Int64 { Int64(space?.rawValue ?? Self.activity) << 48 | number }

        /// nil if the word is not a valid subject.
        package init?(word: Int64) {
            guard let kind = UInt8(exactly: word >> 48) else { return nil }
            number = word & (1 << 48 - 1)
            space = RecordSpace(rawValue: kind)
            guard kind == Self.activity || space != nil else { return nil }
        }

        private static let activity: UInt8 = 0x7f
    }

    /// The reason for setting a subject aside after this many traps, as a clause.
    package static func reason(_ count: Int) -> String {
        "the relay crashed \(count) times while it worked on it"
    }

    // Not inlined, so that the optimiser keeps the store, which nobody here reads.
    /// Notes work on a subject; nil if there is none in particular.
    @inline(never)
    package func set(_ subject: Subject?) { word.pointee = subject?.word ?? 0 }
}

extension Core {
    /// Notes work on an activity.
    func noteWork(on activity: ActivityNumber) {
        workNote?.set(WorkNote.Subject(nil, activity.rawValue))
    }

    /// Notes work on a record.
    func noteWork(on record: Record) {
        workNote?.set(WorkNote.Subject(record.space, record.number))
    }

    /// Notes work on a device's destinations or surfaces.
    func noteWork(onDevice slot: DeviceSlot) {
        guard let workNote, let device = devices[slot] else { return }
        workNote.set(
            device.number < 0
                ? WorkNote.Subject(.channel, -device.number)
                : WorkNote.Subject(.device, device.number))
    }
}
