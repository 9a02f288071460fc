/// One word in which a core notes what it works on. The word outlives the process: where the
/// process traps, the next one reads what it was about, and sets that aside should it happen again.
///
/// A note costs one store. Used by one core, on one thread.
package struct WorkNote: @unchecked Sendable {
    // Sendable: only the loop's thread writes the word; a signal's handler reads it.
    private let word: UnsafeMutablePointer<Int64>

    /// - Parameter word: stays where it is for as long as the core lives.
    package init(_ word: UnsafeMutablePointer<Int64>) { self.word = word }

    /// What is worked on: a row of the log that start-up may leave out.
    package struct Subject: Hashable, Sendable {
        /// The space of its record; nil of an activity.
        package var space: RecordSpace?
        package var number: Int64

        package init(_ space: RecordSpace?, _ number: Int64) {
            self.space = space
            self.number = number
        }

        /// As the word holds it; 0 is nothing.
        package var word: Int64 { Int64(space?.rawValue ?? Self.activity) << 48 | number }

        /// nil where it is nothing that a core notes.
        package init?(word: Int64) {
            guard let kind = UInt8(exactly: word >> 48) else { return nil }
            number = word & (1 << 48 - 1)
            space = RecordSpace(rawValue: kind)
            guard kind == Self.activity || space != nil else { return nil }
        }

        private static let activity: UInt8 = 0x7f
    }

    /// Why something is set aside that this many processes trapped over: a clause.
    package static func reason(_ count: Int) -> String {
        "the relay crashed \(count) times while it worked on it"
    }

    // Not inlined: the optimiser must not take a store away that nobody here reads.
    /// Nil: it works on nothing in particular.
    @inline(never)
    package func set(_ subject: Subject?) { word.pointee = subject?.word ?? 0 }
}

extension Core {
    /// It works on an activity from now on.
    func noteWork(on activity: ActivityNumber) {
        workNote?.set(WorkNote.Subject(nil, activity.rawValue))
    }

    /// It works on a record from now on.
    func noteWork(on record: Record) {
        workNote?.set(WorkNote.Subject(record.space, record.number))
    }

    /// It works on a device's destinations or surfaces from now on.
    func noteWork(onDevice slot: DeviceSlot) {
        guard let workNote, let device = devices[slot] else { return }
        workNote.set(
            device.number < 0
                ? WorkNote.Subject(.channel, -device.number)
                : WorkNote.Subject(.device, device.number))
    }
}
