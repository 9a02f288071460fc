import CLinux
import Glibc
import TomboloCore
import TomboloProgram

/// `bench pacer`: measures the cost of a decision, a push and a wake-up, and the memory of an idle
/// destination.
enum BenchPacerCommand {
    /// Number of times that every destination changes. Several rounds give a mean cost.
    private static func rounds(_ destinations: Int) -> Int { destinations > 500_000 ? 1 : 3 }

    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let count = context.invocation.integer(.pacerDestinations) ?? 100_000
        var report = BenchReport()
        report.add("destinations", Double(count), digits: 0)
        report.add("decision_ns", decision(), digits: 1)
        let before = residentBytes()
        var world = try PacerWorld(destinations: count)
        // Exclude memory that was needed only to set up the destinations.
        tombolo_release_free_memory()
        report.add("rest_mb", Double(residentBytes() - before) / 1e6, digits: 1)
        var (sending, waking) = (0.0, 0.0)
        var wakes = 0
        let rounds = rounds(count)
        for round in 1...rounds {
            let start = processorTime()
            try world.changeAll(2 * round - 1)
            sending += processorTime() - start
            // The second change comes within each destination's spacing, so each gets a deadline.
            try world.changeAll(2 * round)
            let due = processorTime()
            wakes += world.advance(by: .minutes(2))
            waking += processorTime() - due
            world.advance(by: .hours(1))
        }
        report.add("change_us", sending / Double(rounds * count) * 1e6, digits: 3)
        report.add("wakes", Double(wakes), digits: 0)
        report.add("pushes", Double(world.pushes), digits: 0)
        report.add("wake_us", waking / Double(max(1, rounds * count)) * 1e6, digits: 3)
        try report.print(context)
        return .succeeded
    }

    /// CPU time of one decision of the pacer, in nanoseconds.
    private static func decision() -> Double {
        let grant = Budgets()[.standard]
        var now = Instant(seconds: 1_700_000_000)
        var state = PacingState()
        var (turns, sent) = (0, 0)
        let start = processorTime()
        while turns < 4_000_000 {
            turns += 1
            now = now + .milliseconds(337)
            let wish: Wish = turns % 5 == 0 ? .frame : .latest(turns % 3 == 0 ? .high : .normal)
            switch state.turn(wish, grant, now: now, wall: now) {
            case .send(let priority, let timestamp):
                sent +=
                    state.sent(priority: priority, timestamp: timestamp, grant, now: now) ? 1 : 0
            case .reserve: state.reserve(grant, now: now)
            case .wait: break
            }
        }
        let taken = processorTime() - start
        precondition(sent > 0)
        return taken / Double(turns) * 1e9
    }

    /// CPU time of this process, in seconds.
    static func processorTime() -> Double {
        Double(BenchAppendCommand.nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID)) / 1e9
    }

    /// Resident memory of this process, in bytes.
    static func residentBytes() -> Int {
        let text = (try? FileBytes.read("/proc/self/statm")) ?? []  // Without /proc: 0.
        let fields = String(decoding: text, as: UTF8.self).split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(getpagesize())
    }
}
