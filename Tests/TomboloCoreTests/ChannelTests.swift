import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// Activities on broadcast channels, named and of their own.
@Suite struct ChannelTests {
    static let onFinal = #"{"type":"Score","audience":{"channel":"final"},"state":{"goals":0}}"#

    /// Channels that the relay asked for and got.
    static func rig(os: String = "18.1", route: String = "channel", makes: Bool = true) -> Rig {
        var rig = Rig()
        rig.makesChannels = makes
        rig.device("phone", .standard, os: os)
        rig.token("start:Runner", "aa")
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone","start":"\#(route)"},"#
                + #""state":{"lap":0}}"#)
        return rig
    }

    // MARK: Named

    /// An activity on the channel `final` since second 0.
    static func onChannel(until seconds: Double? = nil) -> Rig {
        var rig = Rig()
        rig.channel("final", "Y2g=")
        rig.command(.start, onFinal)
        if let seconds { rig.advance(to: seconds) }
        return rig
    }

    @Test func `an activity on a channel needs no start, and one push is for all`() {
        var rig = Self.onChannel(until: 5)
        rig.command(.update, #"{"state":{"goals":1},"alert":{"title":"goal"}}"#)
        rig.advance(to: 10)
        rig.command(.end, "{}")
        #expect(rig.line() == #"0:U10{"goals":0} 5:U10{"goals":1} 10:E10{"goals":1}"#)
        #expect(rig.pushes.allSatisfy { $0.push.surface == .channel && $0.push.token == "Y2g=" })
        #expect(rig.view()?.destinations.first?.route == "channel")
        #expect(rig.view()?.destinations.first?.grant.budgetClass == .channel)
    }

    @Test func `a channel that stores nothing takes no expiration`() {
        var rig = Rig()
        rig.channel("final", "Y2g=", .nothing)
        rig.channel("other", "b3Q=", .mostRecent)
        rig.command(.start, Self.onFinal)
        rig.command(
            .start, #"{"type":"Score","audience":{"channel":"other"},"state":{}}"#, id: "dog")
        #expect(rig.pushes.map { $0.push.expiration == 0 } == [true, false])
    }

    @Test func `a channel has a grant of its own, four at once and then one in six minutes`() {
        var rig = Self.onChannel()
        for second in 1...60 {
            rig.advance(to: Double(second) * 60)
            rig.command(.update, #"{"state":{"goals":\#(second)},"urgency":"high"}"#)
        }
        rig.advance(to: 3_630)
        let high = rig.pushes.filter { $0.push.priority == 10 }.count
        #expect((12...14).contains(high), "\(high)")
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"goals":60}"#)
    }

    @Test func `an unknown channel is refused, and so is one that carries another activity`() {
        var rig = Rig()
        rig.command(.start, Self.onFinal)
        #expect(rig.lastRefusal == .unknownChannel)
        rig.channel("final", "Y2g=")
        rig.command(.start, Self.onFinal)
        rig.command(.start, Self.onFinal, id: "dog")
        #expect(rig.lastRefusal == .channelInUse)
        rig.command(.end, "{}")
        rig.command(.start, Self.onFinal, id: "dog")
        #expect(rig.lastAccepted?.activity.rawValue == "dog")
    }

    @Test func `a channel is free only when it has taken the end, also for the same activity`() {
        var rig = Self.onChannel()
        rig.verdict = { _ in nil }
        rig.command(.end, "{}")
        rig.command(.start, Self.onFinal, id: "dog")
        #expect(rig.lastRefusal == .channelInUse)
        rig.command(.start, Self.onFinal) { $0.restart = true }
        #expect(rig.lastRefusal == .channelInUse)
        rig.verdict = { _ in .accepted }
        rig.answer(rig.flying[0], .accepted)
        rig.command(.start, Self.onFinal) { $0.restart = true }
        #expect(rig.lastAccepted?.changed == true)
    }

    @Test func `an activity that begins and ends in one commit keeps its channel until its end`() {
        var rig = Rig()
        rig.channel("final", "Y2g=")
        rig.commitsByItself = false
        rig.command(.start, Self.onFinal)
        rig.command(.end, "{}")
        rig.command(.start, Self.onFinal, id: "dog")
        #expect(rig.lastRefusal == .channelInUse)
    }

    @Test func `an end is not echoed to the cards of what came after it on the channel`() {
        var rig = Self.onChannel(until: 60)
        rig.command(.end, "{}")
        rig.advance(to: 120)
        rig.command(.start, Self.onFinal, id: "dog")
        rig.advance(to: 3_600)
        let events = rig.pushes.map(\.push.event)
        #expect(events.count { $0 == .end } == 1)
        #expect(events.prefix(3) == [.update, .end, .update])
    }

    @Test func `an end is not echoed when what came after it on the channel has left memory`() {
        var rig = Self.onChannel(until: 60)
        rig.command(.end, #"{"state":{"goals":7}}"#)
        rig.advance(to: 120)
        rig.command(.start, Self.onFinal, id: "dog")
        rig.advance(to: 180)
        rig.command(.end, "{}", id: "dog")
        rig.advance(to: 240)
        rig.command(.start, #"{"type":"Score","audience":{"user":"u"},"state":{"goals":0}}"#) {
            $0.restart = true
        }
        rig.advance(to: 90_000)
        rig.command(.update, #"{"state":{"goals":1}}"#)
        rig.advance(to: 90_060)
        #expect(rig.pushes.count { Rig.state($0.push) == #"{"goals":7}"# } == 1)
    }

    @Test func `the next activity on a channel cannot spend the budget again`() {
        var rig = Rig()
        rig.channel("final", "Y2g=")
        for round in 0..<3 {
            let id = "cat\(round)"
            rig.command(.start, Self.onFinal, id: id)
            for second in 1...7 {
                rig.advance(to: Double(round * 10 + second))
                rig.command(.update, #"{"state":{"goals":\#(second)},"urgency":"high"}"#, id: id)
            }
            rig.command(.end, "{}", id: id)
            rig.advance(to: Double(round * 10 + 9))
        }
        let high = rig.pushes.filter { $0.push.priority == 10 && $0.push.event != .end }.count
        #expect(high <= 15, "\(high): ten, and one in six seconds")
    }

    @Test func `after a crash a channel's newest activity says what is spent`() {
        var rig = Rig()
        rig.channel("final", "Y2g=")
        for round in 0..<2 {
            rig.command(.start, Self.onFinal, id: "cat\(round)")
            for second in 1...6 {
                rig.advance(to: Double(round * 10 + second))
                rig.command(
                    .update, #"{"state":{"goals":\#(second)},"urgency":"high"}"#,
                    id: "cat\(round)")
            }
            rig.command(.end, "{}", id: "cat\(round)")
            rig.advance(to: Double(round * 10 + 9))
        }
        #expect(rig.crash(recoverAt: 22) == [])
        rig.command(.start, Self.onFinal, id: "cat2")
        for second in 1...6 {
            rig.advance(to: Double(24 + second))
            rig.command(.update, #"{"state":{"goals":\#(second)},"urgency":"high"}"#, id: "cat2")
        }
        rig.advance(to: 40)
        let high = rig.pushes.filter { $0.push.priority == 10 && $0.push.event != .end }.count
        #expect(high <= 17, "\(high): ten, and one in six seconds")
    }

    @Test func `a channel that Apple does not know takes no start, also after a crash`() {
        var rig = Rig()
        rig.channel("final", "Y2g=")
        rig.verdict = { _ in .refusal(400, "ChannelNotRegistered", .tokenGone) }
        rig.command(.start, Self.onFinal)
        rig.command(.end, "{}")
        rig.command(.start, Self.onFinal, id: "dog")
        #expect(rig.lastRefusal == .unknownChannel)
        #expect(rig.crash(recoverAt: 10) == [])
        rig.command(.start, Self.onFinal, id: "dog")
        #expect(rig.lastRefusal == .unknownChannel)
        #expect(rig.pushes.count == 1)
    }

    /// Found by the simulation: what was on its way into the log went there all the same.
    @Test(arguments: [false, true])
    func `an activity that was taken before its channel was gone sends nothing there`(
        crashes: Bool
    ) {
        var rig = Self.onChannel(until: 5)
        rig.command(.end, "{}")
        rig.advance(to: 600)
        rig.commitsByItself = false
        rig.command(.start, Self.onFinal, id: "dog")
        let isOnItsWay = rig.take()
        #expect(isOnItsWay)
        rig.verdict = { _ in .refusal(400, "ChannelNotRegistered", .tokenGone) }
        rig.advance(to: 610)
        #expect(rig.line().hasSuffix(#"605:E5{"goals":0}"#), "\(rig.line())")
        let mark = rig.pushes.count
        rig.commitsByItself = true
        rig.step(.tick)
        if crashes { #expect(rig.crash(recoverAt: 620) == []) }
        rig.command(.update, #"{"state":{"goals":1}}"#, id: "dog")
        rig.advance(to: 3_600)
        #expect(rig.line(from: mark) == "")
        #expect(rig.view("dog")?.destinations.first?.phase == "gone")
    }

    @Test func `a channel and what it was sent survive a crash`() {
        var rig = Self.onChannel(until: 5)
        #expect(rig.crash(recoverAt: 10) == [])
        rig.advance(to: 60)
        #expect(rig.pushes.count == 1, "it has that state")
        rig.command(.update, #"{"state":{"goals":1}}"#)
        rig.advance(to: 80)
        #expect(rig.pushes.last?.push.token == "Y2g=")
        #expect(rig.core.channels(of: Rig.tenant).map(\.id) == ["Y2g="])
    }

    @Test func `a channel that Apple does not know any more gets nothing again`() {
        var rig = Self.onChannel()
        rig.verdict = { _ in .refusal(400, "ChannelNotRegistered", .tokenGone) }
        rig.advance(to: 5)
        rig.command(.update, #"{"state":{"goals":1}}"#)
        rig.command(.update, #"{"state":{"goals":2}}"#)
        rig.advance(to: 3_600)
        #expect(rig.pushes.count == 2)
        #expect(rig.view()?.destinations.first?.phase == "gone")
    }

    /// A start on a channel, with a state of so many bytes and an alert of about so many.
    private static func start(state: Int, alert: Int? = nil) -> String {
        func padding(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }
        let alert = alert.map { #","alert":{"title":"\#(padding($0))"}"# } ?? ""
        return #"{"type":"Score","audience":{"channel":"final"},"state":{"s":""#
            + padding(state - #"{"s":""}"#.utf8.count) + "\"}" + alert + "}"
    }

    @Test func `a broadcast has room for 5,120 bytes, of which 4,096 are state`() throws {
        var rig = Rig()
        rig.channel("final", "Y2g=")
        rig.command(.start, Self.start(state: 4_097))
        let ofState = rig.lastRefused
        let refusal = try #require(ofState)
        #expect(refusal.code == .payloadTooLarge && refusal.bytesOver == 1)
        #expect(refusal.detail.contains("4097 bytes, 1 more than the 4096 that ActivityKit takes"))
        rig.command(.start, Self.start(state: 4_096, alert: 1_000))
        let ofWhole = rig.lastRefused
        #expect(ofWhole?.detail.contains("more than the 5120 that Apple takes") == true)
        rig.command(.start, Self.start(state: 4_096))
        #expect(rig.lastRefusal == nil)
        #expect(rig.lastAccepted?.lint.map(\.code) == [.payloadNearLimit])
        #expect(rig.lastAccepted?.lint.first?.message.hasPrefix("4096 of 4096 bytes") == true)
        #expect(rig.pushes.count == 1)
    }

    @Test(arguments: [(3_840, false), (3_841, true), (4_050, true), (4_096, true)])
    func `what a channel takes is called too large by nobody`(state: Int, isNear: Bool) throws {
        var rig = Rig()
        rig.channel("final", "Y2g=")
        let start = Self.start(state: state)
        let run = try rig.core.dryRun(try Command(.start, start), now: rig.now)
        rig.command(.start, start)
        let accepted = rig.lastAccepted
        let stored = try #require(accepted)
        #expect(run.payloadBytesMax == 5_120)
        for lints in [run.lint, stored.lint] {
            #expect(lints.contains { $0.code == .payloadNearLimit } == isNear, "\(lints)")
            #expect(!lints.contains { $0.code == .payloadTooLarge }, "\(lints)")
        }
    }

    // MARK: Its own

    @Test func `a start on iOS 18 may carry a channel of the activity's own`() {
        for route in ["channel", "auto"] {
            var rig = Self.rig(route: route)
            #expect(rig.pushes.count == 1)
            let aps = Rig.aps(rig.pushes[0].push)
            let channel = aps?["input-push-channel"]?.string
            #expect(channel == "private-1")
            #expect(aps?["input-push-token"] == nil)
            rig.advance(to: 5)
            rig.update(lap: 1, .high)
            let counts = rig.lastAccepted?.destinations
            #expect(counts?.byChannel == 1 && counts?.skipped == 0 && counts?.total == 2)
            rig.advance(to: 10)
            rig.command(.end, "{}")
            #expect(rig.line(from: 1) == #"5:U10{"lap":1} 10:E10{"lap":1}"#)
            #expect(rig.pushes.dropFirst().allSatisfy { $0.push.token == channel })
            #expect(rig.view()?.destinations.map(\.phase) == ["listening", "ended"])
        }
    }

    @Test func `an older system, or another wish, gets a token's start`() {
        for (os, route) in [("17.5", "channel"), ("18.0", "push"), ("17.2", "auto")] {
            let rig = Self.rig(os: os, route: route)
            #expect(rig.pushes.count == 1)
            #expect(Rig.aps(rig.pushes[0].push)?["input-push-channel"] == nil)
        }
    }

    @Test func `the events of a listening card are its channel's, and the books add up`() {
        var rig = Self.rig()
        rig.advance(to: 5)
        for lap in 1...3 { rig.command(.update, #"{"state":{"lap":\#(lap)}}"#) }
        rig.advance(to: 60)
        let key = ActivityKey(tenant: Rig.tenant, id: Identifier("cat")!)
        let books = rig.core.ledgers(of: key, now: rig.now) ?? []
        #expect(books.count == 2)
        #expect(books.allSatisfy { $0.ledger.waiting(at: 4) == 0 })
        #expect(books[0].ledger.counts.onChannel == 3)
        #expect(books[1].ledger.counts.decided == 3)
    }

    @Test func `without a channel in five seconds the update token will do`() {
        var rig = Self.rig(makes: false)
        #expect(rig.pushes.isEmpty)
        #expect(rig.view()?.destinations.first?.waiting?.reason == "no_channel")
        rig.advance(to: 4.9)
        #expect(rig.pushes.isEmpty)
        rig.advance(to: 5.1)
        #expect(rig.pushes.count == 1)
        #expect(Rig.aps(rig.pushes[0].push)?["input-push-token"]?.integer == 1)
    }

    @Test func `no activity waits for a channel that Apple refuses`() {
        var rig = Self.rig(makes: false)
        rig.step(.channel(.notMade(UpstreamNumber(0)), nil))
        #expect(rig.pushes.count == 1)
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone","start":"channel"},"state":{}}"#,
            id: "dog")
        rig.advance(to: 2)
        #expect(rig.pushes.count == 2)
        #expect(rig.channelWishes == 1, "it is not asked again for a while")
    }

    @Test func `near Apple's quota the relay requests no further channel`() {
        var pool = ChannelPool()
        let now = Rig.epoch
        for slot in DeviceSlot(1)..<DeviceSlot(ChannelPool.countMax) {
            pool.recovered(slot, isUsed: true, restsUntil: .distantPast)
        }
        let first = pool.asks(now: now)
        pool.made(0)
        let taken = pool.takeChannel(now: now)
        let second = pool.asks(now: now)
        #expect(first && taken == 0 && !second)
    }

    @Test func `a channel is used again only after every old card is gone`() {
        var rig = Self.rig()
        func channel(_ rig: borrowing Rig) -> String? {
            rig.pushes.last { $0.push.event == .start }
                .flatMap { Rig.aps($0.push)?["input-push-channel"]?.string }
        }
        #expect(channel(rig) == "private-1")
        rig.advance(to: 60)
        rig.command(.end, "{}")
        rig.advance(to: 11 * 3_600)
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone","start":"channel"},"state":{}}"#,
            id: "dog")
        rig.advance(to: 11 * 3_600 + 10)
        #expect(channel(rig) != "private-1")
        rig.command(.end, "{}", id: "dog")
        rig.advance(to: 60 * 3_600)
        var used: Set<String> = []
        for number in 1...6 {
            rig.command(
                .start,
                #"{"type":"Runner","audience":{"device":"phone","start":"channel"},"state":{}}"#,
                id: "cat-\(number)")
            rig.advance(to: Double(60 * 3_600 + number * 10))
            if let channel = channel(rig) { used.insert(channel) }
        }
        #expect(used.contains("private-1"))
    }

    @Test func `a card on a channel survives a crash`() {
        var rig = Self.rig()
        rig.advance(to: 5)
        #expect(rig.crash(recoverAt: 10) == [])
        rig.makesChannels = true
        rig.update(lap: 1, until: 60)
        #expect(rig.pushes.filter { $0.push.event == .start }.count == 1)
        #expect(rig.pushes.last?.push.surface == .channel)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":1}"#)
    }

    @Test func `a start of unknown outcome listens all the same`() {
        var rig = Rig()
        rig.makesChannels = true
        rig.verdict = { $0.event == .start ? .unknown(reason: "broke") : .accepted }
        rig.device("phone", .standard, os: "18.1")
        rig.token("start:Runner", "aa")
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone","start":"channel"},"state":{"lap":0}}"#)
        rig.update(lap: 1, until: 200)
        #expect(rig.pushes.filter { $0.push.event == .start }.count == 1)
        #expect(rig.pushes.last?.push.surface == .channel)
        #expect(rig.view()?.destinations.first?.phase == "listening")
    }

    @Test func `a change during the start's flight is sent on the channel again`() {
        var rig = Rig()
        rig.makesChannels = true
        rig.verdict = { $0.event == .start ? nil : .accepted }
        rig.device("phone", .standard, os: "18.1")
        rig.token("start:Runner", "aa")
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone","start":"channel"},"state":{"lap":0}}"#)
        rig.advance(to: 1)
        rig.update(lap: 1, .high, until: 3)
        rig.answer(rig.flying[0], .accepted)
        rig.advance(to: 60)
        #expect(rig.line(from: 1) == #"1:U10{"lap":1} 11:U5{"lap":1}"#)
    }

    /// Seed 1676 of the simulation: it rang with the start, and again with the broadcast.
    @Test func `an alert that waits on the channel does not ring with a start as well`() {
        var rig = Self.rig()
        rig.device("pad", .standard, user: "ann", os: "18.1")
        rig.advance(to: 10)
        rig.command(.end, "{}")
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"devices":["phone","pad"],"start":"channel"},"#
                + #""state":{"lap":0}}"#, id: "both")
        rig.advance(to: 60)
        rig.verdict = {
            $0.surface == .channel
                ? .refusal(429, "TooManyRequests", .tokenBackOff) : .accepted
        }
        rig.command(
            .update, #"{"state":{"lap":1},"alert":{"title":"goal"},"alert_ttl":"10m"}"#,
            id: "both")
        rig.advance(to: 61)
        let before = rig.pushes.count
        rig.token("start:Runner", "cc", "pad")
        rig.verdict = { _ in .accepted }
        rig.advance(to: 300)
        let rang = rig.pushes.dropFirst(before).map(\.push).filter { push in
            Rig.aps(push)?["alert"]?["title"]?.string == "goal"
        }
        #expect(rang.map(\.surface) == [.channel])
        #expect(rig.pushes.contains { $0.push.token == "cc" && $0.push.event == .start })
    }

    /// Of a backup nobody knows what its free channels have carried since.
    @Test(arguments: [false, true])
    func `after a restore a free channel rests, for cards may listen on it`(
        isRestored: Bool
    ) throws {
        var rig = Self.rig()
        rig.advance(to: 5)
        let made = rig.channelWishes
        #expect(made > 1, "one is free")
        #expect(rig.crash(recoverAt: 10, restored: isRestored) == [])
        rig.makesChannels = true
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone","start":"channel"},"state":{"lap":0}}"#,
            id: "next")
        rig.advance(to: 60)
        let start = try #require(rig.pushes.last { $0.push.event == .start }?.push)
        let channel = try #require(Rig.aps(start)?["input-push-channel"]?.string)
        let number = try #require(Int(channel.dropFirst("private-".count)))
        #expect((number > made) == isRestored)
    }
}
