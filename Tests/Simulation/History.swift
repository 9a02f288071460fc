import TomboloLoop

/// What happened, step by step: as one hash, and where somebody looks also in words.
struct History {
    enum Step: UInt8 {
        case lifeBegins, recovered, crash, orderlyStop, lifeEnds, wallStep, capacity, heal, quiet
        case command, answer, durable, push, outcome, delivered, ignored, lost, card, token, stored
        case offline, online, swipe, rotate, report, presence, reinstall, pause, resume, type
        case full, restore, reboot, sleep, lapsed, violation
        case signIn, departure
    }

    struct Entry {
        var at: MonotonicInstant
        var step: Step
        var who: Int
        var first: Int64
        var second: Int64
        var text: String
    }

    private var entries: [Entry] = []
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var count = 0
    /// Keeps the words too, for a seed that is looked at.
    var keepsAll = false

    mutating func note(
        _ at: MonotonicInstant, _ step: Step, who: Int = 0, _ first: Int64 = 0,
        _ second: Int64 = 0, _ text: @autoclosure () -> String = ""
    ) {
        mix(UInt64(bitPattern: at.nanoseconds))
        mix(UInt64(step.rawValue) << 32 | UInt64(truncatingIfNeeded: who))
        mix(UInt64(bitPattern: first))
        mix(UInt64(bitPattern: second))
        count += 1
        guard keepsAll else { return }
        let entry = Entry(
            at: at, step: step, who: who, first: first, second: second, text: text())
        entries.append(entry)
    }

    /// Anything else that must be the same in every process.
    mutating func mix(_ word: UInt64) {
        hash = (hash ^ word) &* 0x0000_0100_0000_01b3
        hash ^= hash >> 29
    }

    /// All steps, oldest first: `time  what  who  numbers  text`.
    func lines() -> [String] {
        entries.map { entry in
            let seconds = Double(entry.at.nanoseconds / 1_000_000) / 1_000
            let who = entry.who < 0 ? "relay" : "phone\(entry.who)"
            return
                "\(seconds)s  \(entry.step)  \(who)  \(entry.first) \(entry.second)  \(entry.text)"
        }
    }
}
