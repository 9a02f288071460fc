import Testing

@testable import TomboloSimulator

@Suite struct PhoneHabitsTests {
    @Test func `allow brings the update token that never came`() {
        var bench = PhoneBench { $0.updateTokens = .never }
        bench.start()
        bench.pass(.seconds(3_600))
        #expect(bench.updateTokens.isEmpty)
        bench.perform { $0.allow(activityID: "cat", at: $1) }
        #expect(bench.updateTokens.count == 1)
        bench.perform { $0.allow(activityID: "cat", at: $1) }
        #expect(bench.updateTokens.count == 1)
        bench.change(image: "b")
        #expect(bench.shown == #"{"image":"b"}"#)
    }

    @Test func `a rotated token is dead, and the new one works`() {
        var bench = PhoneBench()
        bench.start()
        bench.perform { $0.rotate(activityID: "cat", at: $1) }
        #expect(bench.updateTokens.count == 2)
        #expect(bench.retiredTokens == [bench.updateTokens[0]])
        bench.change(image: "b")
        #expect(bench.shown == #"{"image":"b"}"#)
    }

    @Test func `the app's own update shares the clock with pushes`() {
        var bench = PhoneBench()
        bench.start()
        bench.pass(.seconds(30))
        let local = [UInt8](#"{"image":"local"}"#.utf8)
        bench.perform { $0.updateLocally(activityID: "cat", state: local, at: $1) }
        #expect(bench.shown == #"{"image":"local"}"#)
        bench.change(image: "late", timestamp: "\(bench.now.seconds - 1)")
        #expect(bench.shown == #"{"image":"local"}"#)
        #expect(bench.reasons == [.timestampOlderThanShown])
        #expect(bench.phone.cards[0].localUpdateAt == bench.now)
    }

    @Test func `pushes of low priority come together, or with the next that wakes the phone`() {
        var bench = PhoneBench { $0.lowPriorityGrouping = .seconds(60) }
        bench.start()
        bench.change(image: "b")
        bench.pass(.seconds(10))
        bench.change(image: "c")
        #expect(bench.shown == #"{"image":"a"}"#)
        bench.change(image: "d", priority: 10)
        #expect(bench.shown == #"{"image":"d"}"#)
        #expect(bench.changes.count == 4)
        bench.change(image: "e")
        bench.pass(.seconds(59))
        #expect(bench.shown == #"{"image":"d"}"#)
        bench.pass(.seconds(1))
        #expect(bench.shown == #"{"image":"e"}"#)
    }

    @Test func `a push that is overtaken is older than what is shown`() {
        var bench = PhoneBench { $0.reordersEvery = 2 }
        bench.start()
        bench.pass(.seconds(1))
        bench.change(image: "b", priority: 10)
        #expect(bench.shown == #"{"image":"a"}"#)
        bench.change(image: "c", timestamp: "\(bench.now.seconds + 1)", priority: 10)
        #expect(bench.shown == #"{"image":"c"}"#)
        #expect(bench.reasons == [.timestampOlderThanShown])
        bench.pass(.seconds(1))
        bench.change(image: "d", priority: 10)
        bench.pass(.seconds(1))
        #expect(bench.shown == #"{"image":"d"}"#)
    }

    @Test func `nothing starts while the user has closed the app`() {
        var bench = PhoneBench()
        bench.perform { $0.setTerminated(true, at: $1) }
        bench.start()
        #expect(bench.reasons == [.appTerminated])
        bench.perform { $0.setTerminated(false, at: $1) }
        bench.start()
        #expect(bench.shown == #"{"image":"a"}"#)
    }

    @Test func `a date of another epoch shows, and the log says which year`() {
        var bench = PhoneBench {
            $0.shapes["RunnerWidgetAttributes"] = .object([
                .init("image", .string), .init("at", .date, isRequired: false),
            ])
        }
        bench.start()
        bench.push(
            to: bench.updateTokens[0],
            #"{"aps":{"timestamp":\#(bench.now.seconds),"event":"update","content-state":"#
                + #"{"image":"b","at":1800000000}}}"#)
        #expect(bench.shown == #"{"image":"b","at":1800000000}"#)
        #expect(bench.reasons == [.dateInAnotherEpoch])
        #expect(bench.phone.ignored[0].detail == "/at shows the year 2058")
    }
}

extension PhoneBench {
    mutating func perform(_ change: (inout Phone, WallInstant) -> [PhoneEffect]) {
        carryOut(change(&phone, now))
    }
}
