import Synchronization
import TestSupport
import Testing
import TomboloCore
import TomboloLoop

@testable import TomboloRelay

@Suite struct FollowersTests {
    private static func interest(
        _ activity: String? = nil, commands: Bool = true, facts: Set<String>? = []
    ) -> LogInterest {
        LogInterest(
            takesCommands: commands, facts: facts, activity: activity.flatMap(Identifier.init))
    }

    @Test(arguments: [
        (Self.interest("cat"), true), (Self.interest("dog"), false), (Self.interest(), true),
        (Self.interest(commands: false), false),
        (Self.interest(commands: false, facts: ["card.began"]), false),
        (Self.interest(commands: false, facts: ["device.registered"]), false),
    ])
    func `a reader wakes only for a row that matches its query`(
        interest: LogInterest, wakes: Bool
    ) throws {
        try RelayTests.with { relay, _ in
            let start = try RelayTests.command(.start, "cat", #"{"type":"R","state":{}}"#)
            let tenant = start.activity.tenant
            // Another's row is before it, and the reader sleeps over it.
            _ = await relay.submit(
                try RelayTests.command(.start, "mouse", #"{"type":"R","state":{}}"#))
            let before = await relay.reach(of: tenant)
            let isOver = Mutex(false)
            async let reach = relay.waitForRow(interest, of: tenant, after: before.place) {
                isOver.withLock { $0 }
            }
            try await relay.loop.sleep(for: .milliseconds(1))
            _ = await relay.submit(start)
            let after = await relay.reach(of: tenant)
            #expect(after.place.command == before.place.command + 1)
            // Whom the row does not wake the clock does.
            try await relay.loop.sleep(for: .milliseconds(1))
            isOver.withLock { $0 = true }
            let answer = try #require(await reach)
            #expect(answer.place.command == (wakes ? before : after).place.command)
            #expect(answer.seq == (wakes ? before : after).seq)
        }
    }

    @Test func `a reader of many commits goes on where they are over`() throws {
        try RelayTests.with { relay, _ in
            let tenant = RelayTests.tenant
            _ = await relay.submit(
                try RelayTests.command(.start, "mouse", #"{"type":"R","state":{}}"#))
            let before = await relay.reach(of: tenant)
            async let reach = relay.waitForRow(
                Self.interest("cat"), of: tenant, after: before.place
            ) { false }
            try await relay.loop.sleep(for: .milliseconds(1))
            for name in ["a", "b", "c", "cat", "d"] {
                _ = await relay.submit(
                    try RelayTests.command(.start, name, #"{"type":"R","state":{}}"#))
            }
            let answer = try #require(await reach)
            #expect(answer.place.command == before.place.command + 3)
            // What came since is no reason to sleep.
            let next = await relay.waitForRow(
                Self.interest("cat"), of: tenant, after: answer.place
            ) { false }
            #expect(next == nil)
        }
    }

    @Test func `facts that a reader follows are written at once, and others wait`() throws {
        try RelayTests.with { relay, _ in
            let (loop, tenant) = (relay.loop, RelayTests.tenant)
            let interest = Self.interest(commands: false, facts: ["config.reloaded"])
            let deed = Deed("config.reloaded", [], of: tenant, by: .unknown)
            await relay.settleFacts()
            let before = await relay.reach(of: tenant).place
            let noted = loop.now
            await relay.note(deed)
            try await loop.sleep(for: .milliseconds(200))
            let place = await relay.place(of: tenant)
            // On a busy machine the two seconds may be over.
            #expect(place == before || loop.now - noted > .seconds(1))
            // What waits when the reader comes is written for it, too.
            var least = Duration.seconds(9)
            for _ in 1...10 where least > .milliseconds(900) {
                let (place, begin) = (await relay.place(of: tenant), loop.now)
                async let reach = relay.waitForRow(interest, of: tenant, after: place) { false }
                try await loop.sleep(for: .milliseconds(10))
                await relay.note(deed)
                let answer = try #require(await reach)
                #expect(answer.place == place)
                least = min(least, loop.now - begin)
            }
            #expect(least < .milliseconds(900))
        }
    }

    @Test func `one clock ticks, however often its readers come and go`() async throws {
        try await onLoop { loop in
            let followers = Followers(on: loop)
            let looks = Mutex(0)
            for _ in 0..<30 {
                async let reach = followers.wait(for: Self.interest(), of: RelayTests.tenant) {
                    looks.withLock { $0 += 1 }
                    return false
                }
                try await loop.sleep(for: .milliseconds(1))
                followers.wakeAll()
                _ = await reach
            }
            looks.withLock { $0 = 0 }
            let isOver = Mutex(false)
            async let reach = followers.wait(for: Self.interest(), of: RelayTests.tenant) {
                looks.withLock { $0 += 1 }
                return isOver.withLock { $0 }
            }
            try await loop.sleep(for: .milliseconds(2_050))
            #expect((1...3).contains(looks.withLock { $0 }))
            isOver.withLock { $0 = true }
            _ = await reach
        }
    }
}
