import CoreRig
import Testing
import TomboloCore

/// An upstream whose tokens are all wrong, until one is right.
@Suite struct FirstTokenTests {
    private static let wrong = PushResult.refusal(400, "DeviceTokenNotForTopic", .topic)

    /// A fleet whose newest phone alone has a token that is right.
    private static func fleet(_ count: Int) -> Rig {
        var rig = Rig()
        rig.verdict = { $0.token.hasPrefix("ff") ? .accepted : wrong }
        for number in 0..<count {
            rig.device("d\(number)", .lab)
            rig.token("start:Runner", "aa" + String(0x100000 + number, radix: 16), "d\(number)")
        }
        rig.device("good", .lab)
        rig.token("start:Runner", "ff00", "good")
        let names = ((0..<count).map { "\"d\($0)\"" } + ["\"good\""]).joined(separator: ",")
        rig.command(.start, #"{"type":"Runner","audience":{"devices":[\#(names)]},"state":{}}"#)
        return rig
    }

    @Test(arguments: [(40, 12.0), (900, 35.0)])
    func `strangers hold a right phone back for a bounded time`(count: Int, seconds: Double) {
        var rig = Self.fleet(count)
        rig.advance(to: 120)
        let first = rig.pushes.first { $0.push.token == "ff00" }
        #expect(first.map { $0.at.seconds < seconds } == true, "\(String(describing: first?.at))")
    }

    @Test func `that Apple has taken one is on record with the next commit`() {
        var rig = Self.fleet(0)
        rig.advance(to: 0.1)
        #expect(rig.recovery().records.contains { $0.space == .upstream })
    }

    @Test func `on a full disk a presence is refused, as all else is`() throws {
        var rig = Rig()
        rig.device()
        rig.presence(.active)
        #expect(rig.lastRefusal == nil)
        rig.step(.room(false))
        rig.presence(.active)
        #expect(rig.lastRefusal == .logFull)
    }
}
