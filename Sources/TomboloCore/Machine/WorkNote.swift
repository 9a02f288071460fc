/// Memory in which a core writes what it works on. The memory outlives the process: after a crash,
/// the next process reads it, and sets the subject aside if it causes crashes again.
///
/// A note costs one store. Only one core on one thread may use it.
package struct WorkNote: @unchecked Sendable {
    // Sendable: only the loop's thread writes it; the handler of a crash's signal reads it.
    private let word: UnsafeMutablePointer<Int64>

    /// - Parameter word: must be valid as long as the core exists.
    package init(_ word: UnsafeMutablePointer<Int64>) { self.word = word }

    /// What the core works on: an activity or a record, which start-up can set aside.
    package struct Subject: Hashable, Sendable {
        /// The record's space; nil for an activity.
        package var space: RecordSpace?
        package var number: Int64

        package init(_ space: RecordSpace?, _ number: Int64) {
            self.space = space
            self.number = number
        }

        /// The subject in one word. It is never 0, which means: none.
        package var word: Int64 { Int64(space?.rawValue ?? Self.activity) << 48 | number }

        /// Returns nil if the word is not a subject.
        package init?(word: Int64) {
            guard let kind = UInt8(exactly: word >> 48) else { return nil }
            number = word & (1 << 48 - 1)
            space = RecordSpace(rawValue: kind)
            guard kind == Self.activity || space != nil else { return nil }
        }

        private static let activity: UInt8 = 0x7f
    }

    /// Why a subject is set aside after so many crashes, as a clause.
    package static func reason(_ count: Int) -> String {
        "the relay crashed \(count) times while it worked on it"
    }

    // Not inlined, so that the compiler keeps the store, although this process never reads it.
    /// Sets what the core works on; nil: nothing in particular.
    @inline(never)
    package func set(_ subject: Subject?) { word.pointee = subject?.word ?? 0 }
}

extension Core {
    func noteWork(on activity: ActivityNumber) {
        workNote?.set(WorkNote.Subject(nil, activity.rawValue))
    }

    func noteWork(on record: Record) {
        workNote?.set(WorkNote.Subject(record.space, record.number))
    }

    /// Notes work on a device's or channel's destinations and surfaces.
    func noteWork(onDevice slot: DeviceSlot) {
        guard let workNote, let device = devices[slot] else { return }
        workNote.set(
            device.number < 0
                ? WorkNote.Subject(.channel, -device.number)
                : WorkNote.Subject(.device, device.number))
    }
}
