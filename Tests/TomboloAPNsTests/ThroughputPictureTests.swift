import Glibc
import Testing
import TomboloAPNs
import TomboloCore
import TomboloHTTP
import TomboloLoop

/// A minute in which much goes wrong: the stream limit goes 1000 → 1 → 1000, a GOAWAY falls every
/// second, one connection is cut. `TOMBOLO_PICTURE=60` runs it and prints pushes by half seconds.
@Suite(.enabled(if: getenv("TOMBOLO_PICTURE") != nil, "TOMBOLO_PICTURE=60 runs it"))
struct ThroughputPictureTests {
    @Test func `nothing is lost, and full speed is back within 2 s`() async throws {
        let seconds = getenv("TOMBOLO_PICTURE").flatMap { Int(String(cString: $0)) } ?? 60
        let trouble = Trouble(seconds: seconds)
        let picture = Picture(seconds: seconds)
        try await withScript(streams: 1_000, latency: .milliseconds(100)) { server, exchange, _ in
            trouble.strike(exchange, at: server.moment)
            exchange.respond(200, HTTPFields(), [])
        } upstream: { upstream in
            try await picture.draw(upstream, from: trouble)
        }
        print(picture.text(trouble))
        #expect(picture.lost.isEmpty, "pushes without an accepted end")
        let usual = picture.median(1..<trouble.limitFalls)
        for moment in [trouble.limitRises, trouble.cut] {
            let after = picture.median(moment + 2..<moment + 6)
            #expect(after >= usual * 8 / 10, "\(after) a half second, \(usual) before")
        }
    }
}

/// What goes wrong, by the server's clock. Used on the server's loop alone once it runs.
private final class Trouble: @unchecked Sendable {
    let limitFalls: Int
    let limitRises: Int
    let cut: Int
    private(set) var goAways = 0
    private var began: MonotonicInstant?
    private var limited: Set<UInt64> = []
    private var isCut = false

    /// Seconds after the start, in parts of the whole.
    init(seconds: Int) {
        limitFalls = seconds / 3
        limitRises = seconds / 3 + seconds / 12
        cut = seconds * 2 / 3
    }

    func strike(_ exchange: HTTPExchange, at now: MonotonicInstant) {
        let start = began ?? now
        began = start
        let elapsed = Int((now - start).components.seconds)
        let connection = exchange.connection
        if (limitFalls..<limitRises).contains(elapsed) {
            if limited.insert(connection.id).inserted { connection.setMaxConcurrentStreams(1) }
        } else if limited.remove(connection.id) != nil {
            connection.setMaxConcurrentStreams(1_000)
        }
        if elapsed >= cut, !isCut {
            isCut = true
            connection.abort()
        }
        if elapsed > goAways {
            goAways = elapsed
            connection.goAway(reason: [UInt8](#"{"reason":"Shutdown"}"#.utf8))
        }
    }
}

/// Accepted pushes by half seconds. On the upstream's loop alone.
private final class Picture: @unchecked Sendable {
    private let seconds: Int
    private var accepted: [Int]
    private(set) var lost: Set<UInt64> = []
    private var again = 0

    init(seconds: Int) {
        self.seconds = seconds
        accepted = Array(repeating: 0, count: 2 * seconds)
    }

    /// Sends as much as the upstream takes for the whole time, and again what may not have been
    /// processed, as the relay does; then waits for the rest.
    func draw(_ upstream: Upstream, from trouble: Trouble) async throws {
        let start = upstream.moment
        var (sent, seen) = (0, 0)
        var slots: [PushID: UInt64] = [:]
        var waiting: [UInt64] = []
        var next: UInt64 = 0
        while true {
            let elapsed = (upstream.moment - start).nanoseconds / 500_000_000
            let isOver = elapsed >= accepted.count
            for outcome in upstream.outcomes[seen...] {
                guard let number = slots.removeValue(forKey: outcome.push) else { continue }
                if outcome.result == .accepted {
                    lost.remove(number)
                    if !isOver { accepted[Int(elapsed)] += 1 }
                } else {
                    again += 1
                    waiting.append(number)
                }
            }
            seen = upstream.outcomes.count
            if isOver, waiting.isEmpty, sent == seen { return }
            while sent - seen < upstream.capacities.last ?? 0, !isOver || !waiting.isEmpty {
                let number = waiting.popLast() ?? next
                if number == next { next += 1 }
                lost.insert(number)
                slots[upstream.send("aa")] = number
                sent += 1
            }
            let before = (seen, upstream.capacities.count)
            try await upstream.wait {
                (upstream.outcomes.count, upstream.capacities.count) != before
            }
        }
    }

    /// Of the half seconds from one second to another.
    func median(_ range: Range<Int>) -> Int {
        let part = accepted[2 * range.lowerBound..<min(accepted.count, 2 * range.upperBound)]
        return part.sorted()[part.count / 2]
    }

    func text(_ trouble: Trouble) -> String {
        let most = max(1, accepted.max() ?? 1)
        var text = "by half seconds; \(trouble.goAways) GOAWAYs, \(again) sent again\n"
        for (index, count) in accepted.enumerated() {
            let second = Double(index) / 2
            let note: String
            switch index {
            case 2 * trouble.limitFalls: note = "  ← stream limit 1"
            case 2 * trouble.limitRises: note = "  ← stream limit 1000"
            case 2 * trouble.cut: note = "  ← connection cut"
            default: note = ""
            }
            let bar = String(repeating: "▇", count: count * 50 / most)
            text += "\(second)\t\(count)\t\(bar)\(note)\n"
        }
        return text
    }
}
