import Testing

@testable import TomboloContract

/// What people reported of real phones, played against the contract: no card is doubled or
/// orphaned, and every token is known within 10 s of the network's return.
@Suite struct FieldReportTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The mistake of real apps with which this row fails.
        var mistake: AppLife.Mistake
        var play: @Sendable (inout AppLife) -> Void

        init(
            _ name: String, fails mistake: AppLife.Mistake,
            _ play: @escaping @Sendable (inout AppLife) -> Void
        ) {
            testDescription = name
            self.mistake = mistake
            self.play = play
        }
    }

    static let rows = tokenRows + cardRows + lifeRows

    private static let tokenRows = [
        Row(
            "pushToStartTokenUpdates never yielded in 5 launches (luka-ios 146)",
            fails: .ignoresStartToken
        ) { life in
            life.isStreamSilent = true
            for _ in 1...5 {
                life.issueStartToken("a\(life.now.components.seconds)")
                life.launch()
                life.pass(.seconds(60))
                life.terminate()
            }
            life.issueStartToken("a9")
            life.launch(inFront: true)
        },
        Row(
            "a registration with a nil token erased the stored one (luka-ios 109)",
            fails: .uploadsEmptyTokens
        ) { life in
            life.launch(inFront: true)
            life.pass(.seconds(2))
            life.issueStartToken("a1")
        },
        Row(
            "no update token until \"Allow\": 9 of 14 starts without",
            fails: .ignoresActivityUpdates
        ) { life in
            life.launch()
            life.pushStart("c1", name: "order-7", token: nil)
            life.pass(.seconds(300))
            life.issueToken("b1", of: "c1")
        },
        Row(
            "uploads are retried up to 2 h (home-assistant/iOS 4877)", fails: .givesUpAtFirst
        ) { life in
            life.launch()
            life.pass(.seconds(5))
            life.hasNetwork = false
            life.issueStartToken("a1")
            life.pushStart("c1", name: "order-7", token: "b1")
            life.pass(.seconds(2 * 3_600 - 20))
        },
        Row(
            "a token changes in mid-life, twice without network (LoopFollow 657)",
            fails: .givesUpAtFirst
        ) { life in
            life.launch()
            life.pushStart("c1", name: "order-7", token: "b1")
            life.hasNetwork = false
            life.issueToken("b2", of: "c1")
            life.pass(.seconds(30))
            life.issueToken("b3", of: "c1")
            life.pass(.seconds(3 * 3_600))
        },
        Row(
            "iOS 27.0 leaves a dead start token that answers 200 (home-assistant/iOS 5812)",
            fails: .ignoresStartToken
        ) { life in
            life.issueStartToken("dead")
            life.launch()
            life.terminate()
            life.os = "27.0"
            life.isStreamSilent = true
            life.launch()
            life.issueStartToken("a2")
            life.launch(inFront: true)
        },
    ]

    private static let cardRows = [
        Row(
            "the app must watch activityUpdates and walk activities (home-assistant/iOS 4877)",
            fails: .ignoresActivities
        ) { life in
            life.pushStart("c1", name: "order-7", token: "b1")
            life.pushStart("c2", name: "order-8", token: "b2")
            life.launch(inFront: true)
        },
        Row(
            "keep the old card until the new one is confirmed (LoopFollow 622, 625)",
            fails: .endsNothing
        ) { life in
            life.launch()
            life.pushStart("c1", name: "order-7", token: "b1")
            life.pushStart("c2", name: "order-7", token: nil)
            life.pass(.seconds(60))
            #expect(life.cards["c1"] != nil, "the newer has no token yet")
            life.issueToken("b2", of: "c2")
        },
        Row(
            "an ended card lingered, and its dismissal was read as a swipe (LoopFollow 657)",
            fails: .reportsEveryDismissal
        ) { life in
            life.launch()
            life.pushStart("c1", name: "order-7", token: "b1")
            life.change("c1", to: .ended)
            life.pass(.seconds(4 * 3_600))
            life.change("c1", to: .dismissed)
        },
        Row(
            "a dismissed card yields its token again and races the new one's (luka-ios 146)",
            fails: .ignoresActivityUpdates
        ) { life in
            life.launch()
            life.pushStart("c1", name: "order-7", token: "b1")
            life.change("c1", to: .dismissed)
            life.pushStart("c2", name: "order-7", token: "b2")
            life.tell(.updateToken(card: "c1", "b1"))
        },
    ]

    private static let lifeRows = [
        Row(
            "a force-quit hides dismissals: release what is not in activities "
                + "(home-assistant/iOS 4830)",
            fails: .forgetsAtRelaunch
        ) { life in
            life.launch()
            life.pushStart("c1", name: "order-7", token: "b1")
            life.pass(.seconds(5))
            life.terminate()
            life.change("c1", to: .dismissed, seen: false)
            life.pass(.seconds(60))
            life.launch()
        },
        Row(
            "after a force-quit the start token is silent until the app is opened (FB21158660)",
            fails: .ignoresActivities
        ) { life in
            life.issueStartToken("a1")
            life.launch()
            life.terminate()
            life.hasNetwork = false
            life.pushStart("c1", name: "order-7", token: "b1", wakes: false)
            life.pass(.seconds(3_600))
            life.launch(inFront: true)
            life.terminate()
            life.launch()
        },
    ]

    private func play(_ row: Row, _ mistake: AppLife.Mistake?) -> AppLife {
        var life = AppLife(mistake)
        row.play(&life)
        life.findNetwork()
        return life
    }

    @Test func `the table has twelve rows`() {
        #expect(Self.rows.count == 12)
        #expect(Set(Self.rows.map(\.testDescription)).count == 12)
    }

    @Test(arguments: rows)
    func `nothing is doubled, orphaned or unknown`(row: Row) {
        #expect(play(row, nil).faults == [])
    }

    @Test(arguments: rows)
    func `each row fails with a mistake of real apps`(row: Row) {
        let life = play(row, row.mistake)
        let isMisread = life.words("order-7").last?.contains(#""by":"user""#) == true
        #expect(!life.faults.isEmpty || isMisread)
    }

    @Test func `only the first terminal state of a card is reported`() throws {
        let row = try #require(Self.rows.first { $0.mistake == .reportsEveryDismissal })
        let words = play(row, nil).words("order-7")
        #expect(words == [#"{"phase":"active"}"#, #"{"phase":"ended"}"#])
    }
}
