import TestSupport
import Testing
import TomboloJSON

@testable import TomboloAPI
@testable import TomboloCore

/// Every reason of a decision has one sentence, which answers, schema and page share.
@Suite struct ReasonTests {
    private static let waits = WaitReason.allCases.map { ($0.name, $0.sentence) }
    private static let skips =
        Skip.allCases.map { ($0.name, $0.sentence) }
        + [(EventDecision.onChannel.reason ?? "", EventDecision.onChannel.reasonText ?? "")]
        + [Decision.sent(isReserved: true)].map { ($0.reason ?? "", $0.reasonText ?? "") }

    @Test func `the schema names each reason with its sentence, and no other`() throws {
        let schema = try ProtocolFiles.json("schemas/decision.json")
        let choices = try #require(schema["properties"]?["reason"]?["anyOf"])
        let list = try #require(choices.elements.first { _ in true })
        let codes = try #require(list["enum"]).elements.compactMap(\.string)
        let sentences = try #require(list["x-enum-descriptions"]).elements.compactMap(\.string)
        #expect(codes.count == sentences.count)
        let described = Array(zip(codes, sentences))
        let names = Set((Self.waits + Self.skips).map(\.0))
        #expect(described.count == names.count)
        #expect(Set(described.map(\.0)) == names)
        for (name, sentence) in Self.waits + Self.skips {
            #expect(described.contains { $0.0 == name && $0.1.contains(sentence) }, "\(name)")
        }
    }

    @Test func `the page for producers has a row for each reason`() throws {
        let page = String(decoding: try ProtocolFiles.bytes("README.md"), as: UTF8.self)
        for (name, sentence) in Self.waits + Self.skips {
            #expect(page.contains("| `\(name)` | \(sentence) |"), "\(name)")
        }
    }

    @Test func `what waits after an answer says the answer, and what waits for else does not`() {
        var destination = Samples.waiting
        let unwell = PushResult.rejected(
            status: 503, reason: "ServiceUnavailable", reaches: .upstream, tokenGoneSince: nil)
        let answers: [(PushResult, String)] = [
            (unwell, "503 ServiceUnavailable"), (.unknown(reason: "no answer in 10 s"), "10 s"),
        ]
        for (answer, text) in answers {
            destination.lastDelivery = DeliveryView(
                version: 1, route: .updateToken, apnsID: APNsID(high: 1, low: 2), priority: 5,
                result: answer, took: .zero)
            for reason in WaitReason.allCases {
                destination.waiting = .deferred(until: nil, reason)
                let isOfAnswer = [.tokenBackOff, .appleError, .noAnswer, .tokenDoubted].contains(
                    reason)
                #expect(destination.waitingText?.contains(text) == isOfAnswer, "\(reason)")
                // Of a card that its app begins there is more to say.
                let isPlain = reason != .updateToken
                #expect(destination.waitingText?.hasPrefix(reason.sentence) == isPlain)
            }
        }
        destination.waiting = nil
        #expect(destination.waitingText == nil)
    }

    @Test func `a producer is told each wait reason, or that the push does not wait`() {
        for reason in WaitReason.allCases {
            var accepted = Samples.accepted(.update)
            accepted.decision = Decision.deferred(until: nil, reason).forProducer
            accepted.destinations = DestinationCounts()
            accepted.destinations.add(.deferred(until: nil, reason))
            var writer = JSONWriter()
            CommandAnswer(accepted, in: Samples.log).write(to: &writer)
            let text = String(decoding: writer.bytes, as: UTF8.self)
            let isSending = reason == .reserving
            let action =
                isSending
                ? #""action":"sending"}"# : #""action":"deferred","reason":"\#(reason.name)""#
            #expect(text.contains(action), "\(text)")
            let counts = #""sending":\#(isSending ? 1 : 0),"deferred":\#(isSending ? 0 : 1)"#
            #expect(text.contains(counts), "\(text)")
        }
    }

    @Test func `a decision says its reason as a sentence, and passes Apple's on as it is`() {
        for reason in WaitReason.allCases {
            #expect(Decision.deferred(until: nil, reason).reasonText == reason.sentence)
        }
        for skip in Skip.allCases {
            #expect(Decision.skipped(skip).reasonText == skip.sentence)
        }
        for decision in EventDecision.allCases where decision.reason != nil {
            #expect(decision.reasonText?.hasSuffix(".") == true, "\(decision)")
        }
        #expect(Decision.refused(reason: "BadDeviceToken").reasonText == nil)
        #expect(EventDecision.refused.reasonText == nil)
    }
}
