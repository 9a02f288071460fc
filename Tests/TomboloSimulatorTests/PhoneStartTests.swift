import Testing
import TomboloJSON

@testable import TomboloSimulator

@Suite struct PhoneStartTests {
    @Test(
        arguments: [
            (#"{"eta":1,"at":700000000,"stops":["a"]}"#, nil),
            (#"{"eta":null,"stops":[]}"#, nil), (#"{"stops":["a"],"more":true}"#, nil),
            (#"{"eta":1}"#, "/stops is missing"), (#"{"stops":[1]}"#, "/stops/0 is not a string"),
            (#"{"stops":[],"eta":1.5}"#, "/eta is not an integer"),
            (#"{"stops":[],"at":"now"}"#, "/at is not a number (a Date)"),
        ] as [(String, String?)])
    func `a type as the relay knows it says what decodes`(state: String, fault: String?) {
        let type = """
            {"state":{"properties":{"eta":{"type":["integer","null"]},"at":{"format":"date-time"},
            "stops":{"type":"array","items":{"type":"string"}}},"required":["eta","stops"]}}
            """
        let shape = JSONShape(registered: JSON(unchecked: Array(type.utf8)).document.root)
        #expect(shape.fault(in: JSON(unchecked: Array(state.utf8)).document.root) == fault)
    }

    @Test func `an app gives back what Codable makes of a state`() {
        let type = """
            {"plays":true,"state":{"properties":{"id":{"format":"uuid"},"part":{"format":"float"},
            "share":{"type":"number"},"note":{"type":["string","null"]},"when":{"format":"date-time"},
            "inner":{"type":"object","properties":{"ids":{"type":"array","items":{"format":"uuid"}}}},
            "free":{"type":"object"}},"required":["id"]}}
            """
        let shape = JSONShape(registered: JSON(unchecked: Array(type.utf8)).document.root)
        func view(_ text: String) -> JSONView { JSON(unchecked: Array(text.utf8)).document.root }
        let id = "8c5f5c1e-0000-4000-8000-0123456789ab"
        let sent =
            #"{"id":"\#(id)","note":null,"more":1,"part":0.3,"share":1.0,"when":700000000.25,"#
            + #""inner":{"ids":["\#(id)"],"none":[]},"free":{"a":null},"clip":{"path":"/x"}}"#
        let given =
            #"{"id":"\#(id.uppercased())","part":0.30000001192092896,"share":1,"when":700000000.25,"#
            + #""inner":{"ids":["\#(id.uppercased())"]},"free":{"a":null},"clip":{"path":"/x"}}"#
        #expect(shape.fault(in: view(sent)) == nil)
        #expect(String(decoding: shape.encoded(view(sent), isWhole: true), as: UTF8.self) == given)
        #expect(shape.fault(in: view(#"{"id":"8c5f"}"#)) == "/id is not a UUID")
        #expect(
            shape.fault(in: view(#"{"id":"\#(id)","part":1e39}"#))
                == "/part is not a number that a Float holds")
        let partly = shape.encoded(
            view(#"{"id":"\#(id)","more":null,"note":null,"n":1}"#), isWhole: false)
        #expect(String(decoding: partly, as: UTF8.self) == #"{"id":"\#(id.uppercased())","n":1}"#)
        let free = JSONShape(registered: view(#"{"state":{}}"#))
        #expect(free.encoded(view(#"{"a": null}"#), isWhole: true) == Array(#"{"a": null}"#.utf8))
    }

    @Test func `a start makes a card that knows the relay's id from its attributes`() throws {
        var bench = PhoneBench()
        bench.start(image: "a/b")
        let card = try #require(bench.phone.cards.first)
        #expect(card.activityID == "cat")
        #expect(bench.shown == #"{"image":"a/b"}"#)
        #expect(card.shownCount == 1)
        #expect(bench.updateTokens.count == 1)
        #expect(bench.updateTokens[0].utf8.count == 128)
    }

    @Test func `a start without an alert is ignored`() {
        var bench = PhoneBench()
        bench.start(alert: nil)
        bench.start(alert: #""Go""#)
        bench.start(alert: #"{"sound":"default"}"#)
        #expect(bench.phone.cards.isEmpty)
        #expect(bench.reasons == [.alertMissing, .alertMissing, .alertMissing])
    }

    @Test func `a start of another type than its token's is ignored`() {
        var bench = PhoneBench()
        bench.start(type: "DoorAttributes")
        #expect(bench.reasons == [.attributesTypeMismatch])
    }

    @Test func `a start lacks attributes, type or state at its peril`() {
        var bench = PhoneBench()
        let now = bench.now.seconds
        let head = #"{"aps":{"timestamp":\#(now),"event":"start","alert":{"title":"Go"}"#
        let type = #","attributes-type":"RunnerWidgetAttributes""#
        bench.push(to: bench.startToken, head + type + "}}")
        bench.push(to: bench.startToken, head + #","attributes":{}}}"#)
        bench.push(to: bench.startToken, head + type + #","attributes":[]}}"#)
        bench.push(to: bench.startToken, head + type + #","attributes":{}}}"#)
        #expect(
            bench.reasons == [
                .attributesMissing, .attributesMissing, .attributesDoNotDecode,
                .contentStateMissing,
            ])
    }

    @Test func `two starts make two cards`() {
        var bench = PhoneBench()
        bench.start()
        bench.start()
        #expect(bench.phone.cards.map(\.number) == [1, 2])
    }

    @Test func `starts have a budget of their own`() {
        var bench = PhoneBench()
        for _ in 0..<10 { bench.start() }
        #expect(bench.phone.cards.count == 10)
        bench.start()
        #expect(bench.reasons == [.startOverBudget])
        bench.pass(.seconds(3_599))
        bench.start()
        #expect(bench.reasons == [.startOverBudget, .startOverBudget])
        bench.pass(.seconds(1))
        for _ in 0..<11 { bench.start() }
        #expect(bench.phone.cards.count == 20, "the window slides")
    }

    @Test func `the window of starts may be a day`() {
        var bench = PhoneBench { $0.startBudget = .init(count: 2, window: .seconds(86_400)) }
        for _ in 0..<2 { bench.start() }
        bench.pass(.seconds(7_200))
        bench.start()
        #expect(bench.reasons == [.startOverBudget])
    }

    @Test func `the update token comes after Allow, or never`() {
        var later = PhoneBench { $0.updateTokens = .after(.seconds(7)) }
        later.start()
        #expect(later.updateTokens.isEmpty)
        #expect(later.phone.deadline == PhoneBench.beginning + .seconds(7))
        later.pass(.seconds(7))
        #expect(later.updateTokens.count == 1)

        var never = PhoneBench { $0.updateTokens = .never }
        never.start()
        never.pass(.seconds(3_600))
        #expect(never.updateTokens.isEmpty)
    }

    @Test func `a channel before iOS 18 keeps the activity from starting`() {
        let channel = #","input-push-channel":"dGVzdA==""#
        var old = PhoneBench { $0.os = "17.6" }
        old.start(extra: channel)
        #expect(old.reasons == [.channelNeedsNewerOS])
        var new = PhoneBench { $0.os = "18.0" }
        new.start(extra: channel)
        #expect(new.phone.cards.count == 1)
        #expect(new.updateTokens.isEmpty)
    }

    @Test func `push-to-start tokens outlive a restart, update tokens do not`() {
        var one = PhoneBench()
        var other = PhoneBench { $0.updateTokenSeed = [3] }
        one.start()
        other.start()
        #expect(one.startToken == other.startToken)
        #expect(one.updateTokens != other.updateTokens)
    }

    @Test func `pushes at the wrong token are ignored`() {
        var bench = PhoneBench()
        bench.start()
        bench.push(to: bench.startToken, #"{"aps":{"timestamp":1800000000,"event":"end"}}"#)
        bench.push(to: bench.updateTokens[0], #"{"aps":{"timestamp":1800000000,"event":"start"}}"#)
        bench.push(to: "00", "{}")
        #expect(bench.reasons == [.wrongToken, .wrongToken, .wrongToken])
    }
}
