import Testing

@testable import TomboloAPI
@testable import TomboloCore

/// Each cause that an explanation may name, from evidence made by hand.
@Suite struct ExplainerTests {
    private typealias Case = ExplainerCase

    private static let card = #""token":"activity:cat-7""#
    private static let swiped = #"{"phase":"dismissed","by":"user"}"#

    private static let ofPushes: [Case] = [
        Case("phone_unreachable", "no sign of life after the push") { $0.push() },
        Case("low_priority", "a push of priority 5") { $0.push(priority: 5) },
        Case("merged", "a newer version took its place") { $0.push(4) },
        Case("dismissed", "a swipe after the push") {
            $0.push()
            $0.phone("card.reported", swiped, at: 5)
        },
        Case("dismissed", "a swipe after the phone drew it") {
            $0.push()
            $0.phone("card.reported", #"{"phase":"active","drawn_version":3}"#, at: 3)
            $0.phone(
                "card.reported", #"{"phase":"dismissed","by":"user","drawn_version":3}"#, at: 5)
        },
        Case("clip", "frames are counted, not listed") {
            $0.registration?.presence = nil
            $0.asked.kind = .play
            $0.skip(.unchanged)
        },
        Case("frames_hidden", "the app is in front of the clip") {
            $0.asked.kind = .play
            $0.skip(.unchanged)
        },
        Case("frames_hidden", "the books have hidden frames, and the app has left") {
            $0.registration?.presence = nil
            $0.asked.kind = .play
            $0.skip(.unchanged)
            $0.phone("clip.frames", #"{"clip":"clip_3","asked":20,"hidden":20}"#, at: 9)
        },
        Case("extension_frozen", "the phone has it, and draws an older one") {
            $0.push()
            $0.phone(
                "card.reported",
                #"{"phase":"active","received_version":3,"drawn_version":2}"#, at: 9)
        },
        Case("stale_not_drawn", "the phone has it, is stale, and draws an older one") {
            $0.push()
            $0.phone(
                "card.reported", #"{"phase":"stale","received_version":3,"drawn_version":2}"#,
                at: 9)
        },
        Case("no_route", "the card is gone, and nobody knows any more how") {
            $0.destination?.acknowledgedVersion = 2
            $0.destination?.phase = "gone"
        },
        Case("on_channel", "the activity goes to a channel, not to the phone") {
            $0.destination = nil
            $0.channel = Identifier("final")
        },
        Case(nil, "a channel has no phone to be silent") {
            $0.recipient = .channel($0.recipient.name)
            $0.push()
        },
        Case("spacing", "the outage of the other environment is none of this phone's") {
            $0.registration?.registration.environment = .production
            $0.closeUpstream(at: 1)
            $0.wait(.spacing)
        },
        Case("token_gone", "Apple says later that the token is dead") {
            $0.push()
            $0.phone("token.retired", "{\(card)}", at: 9)
        },
        Case("start_not_confirmed", "no update token after a start") {
            $0.push(event: .start)
        },
        Case("phone_dropped_it", "the phone shows an older one") {
            $0.push()
            $0.phone(
                "card.reported", #"{"phase":"active","received_version":2,"misses_push":true}"#,
                at: 9)
        },
        Case("phone_budget", "eleven pushes of priority 10 in an hour") { evidence in
            for second in 1...11 { evidence.push(at: Int64(second)) }
        },
        Case(nil, "the phone draws a newer one") {
            $0.push()
            $0.phone("card.reported", #"{"phase":"active","drawn_version":4}"#, at: 9)
        },
    ]

    private static let ofRefusals: [Case] = [
        ("BadTopic", "wrong_topic"), ("TopicDisallowed", "wrong_topic"),
        ("MissingTopic", "wrong_topic"), ("DeviceTokenNotForTopic", "wrong_topic"),
        ("BadDeviceToken", "wrong_environment"),
        ("BadEnvironmentKeyInToken", "wrong_environment"),
        ("PayloadTooLarge", "payload_too_large"), ("Unregistered", "token_gone"),
        ("ExpiredToken", "token_gone"), ("BadPriority", "refused"),
    ].map { reason, code in
        Case(code, reason) { $0.push(3, .refused(status: 400, reason: reason)) }
    }

    private static let ofSkips: [Case] =
        [
            .unchanged, .superseded, .annihilated, .noRoute, .expired, .onChannel, .notVisible,
            .startWait,
        ].map {
            (decision: EventDecision) in
            Case(decision.word, "it ended without a push") { $0.skip(decision) }
        } + [
            Case("dismissed", "a swipe before the version") {
                $0.phone("card.reported", swiped, at: -5)
                $0.skip(.noRoute)
            },
            Case("no_route", "a swipe of an earlier card") {
                $0.phone("card.reported", swiped, at: -9)
                $0.phone("token.registered", "{\(card)}", at: -5)
                $0.skip(.noRoute)
            },
            Case("wrong_topic", "the card's token was refused for its topic") {
                $0.push(2, .refused(status: 400, reason: "DeviceTokenNotForTopic"), at: 1)
                $0.phone("token.retired", "{\(card)}", at: 1)
                $0.skip(.noRoute)
            },
            Case("token_gone", "the card's token is dead") {
                $0.phone("token.retired", "{\(card)}", at: 1)
                $0.skip(.noRoute)
            },
            Case("token_gone", "the app deleted the card's token") {
                $0.phone("token.deleted", "{\(card)}", at: -1)
                $0.skip(.noRoute)
            },
            Case("no_route", "another token is dead") {
                $0.phone("token.retired", #"{"token":"activity:dog"}"#, at: -1)
                $0.skip(.noRoute)
            },
            Case("device_deleted", "the device was deleted") {
                $0.phone("device.deleted", "{}", at: -1)
                $0.skip(.noRoute)
            },
            Case("no_route", "the device was registered again") {
                $0.phone("device.deleted", "{}", at: -3)
                $0.phone("device.registered", "{}", at: -1)
                $0.skip(.noRoute)
            },
        ]

    private static let ofWaits: [Case] =
        WaitReason.allCases.map { reason in Case(reason.name, "it waits") { $0.wait(reason) } } + [
            Case("unknown_device", "no such device") {
                ($0.destination, $0.registration) = (nil, nil)
            },
            Case("no_destination", "not in the audience") { $0.destination = nil },
            Case("no_destination", "Apple is away, too") {
                $0.destination = nil
                $0.closeUpstream(at: -5)
            },
            Case("not_on_record", "Apple has it, and no line says how") {
                $0.destination?.acknowledgedVersion = 3
            },
            Case("no_route", "the card is gone since an earlier version") {
                $0.destination?.phase = "gone"
                $0.goOn(.noRoute)
            },
            Case("start_wait", "its start was skipped with an earlier version") {
                $0.destination?.phase = "gone"
                $0.goOn(.startWait)
            },
            Case("start_wait", "another card of the device's name got it") {
                $0.destination?.phase = "gone"
                $0.cards = [2]
                $0.goOn(.startWait, card: 2)
                $0.skip(.unchanged, card: 1)
            },
            Case("bucket", "the card was gone, and came back") {
                $0.goOn(.noRoute)
                $0.wait(.bucket)
            },
            Case("history_thinned", "no line, while details were left out") {
                $0.destination?.acknowledgedVersion = 4
                $0.thin(from: 10, until: 70)
            },
            Case("not_on_record", "details were left out before the version came") {
                $0.destination?.acknowledgedVersion = 4
                $0.thin(from: -70, until: -10)
            },
            Case("upstream_closed", "Apple is away") {
                $0.closeUpstream(at: -5)
                $0.wait(.upstreamClosed)
            },
            Case("bucket", "Apple is away, too") {
                $0.closeUpstream(at: -5)
                $0.wait(.bucket)
            },
            Case("upstream_closed", "the Apple of another app is away") {
                $0.closeUpstream("com.example.other", at: -5)
                $0.wait(.upstreamClosed)
            },
            Case("upstream_closed", "Apple was away before the relay started") {
                $0.closeUpstream(at: -9)
                $0.relay("relay.started", at: -5)
                $0.wait(.upstreamClosed)
            },
            Case("paused", "an operator's pause") {
                $0.relay("pause.began", #"{"pause":"pau_1","type":"Runner"}"#, at: -5)
                $0.wait(.paused)
            },
            Case("paused", "a pause, and the card's token is gone, too") {
                $0.relay("pause.began", #"{"pause":"pau_1","type":"Runner"}"#, at: -5)
                $0.phone("token.deleted", "{\(card)}", at: -1)
                $0.wait(.paused)
            },
            Case("token_gone", "it waits for a new token") {
                $0.phone("token.retired", "{\(card)}", at: -1)
                $0.wait(.updateToken)
            },
            Case("disk_full", "no room for what a push costs") {
                $0.relay("disk.full", at: -5)
                $0.wait(.reserving)
            },
            Case("bucket", "a start token of another activity's is dead") {
                $0.phone("token.retired", #"{"token":"start:Other"}"#, at: 1)
                $0.wait(.bucket)
            },
        ]

    /// "Why did it not show at second 10 what was said?"
    private static func then(
        _ code: String?, _ what: String, _ change: (inout Evidence) -> Void
    ) -> Case {
        Case(code, what) {
            $0.moment = Evidence.at(10)
            change(&$0)
        }
    }

    private static let ofMoments: [Case] = [
        then("bucket", "the longest of two holds") {
            $0.push(at: 60, held: [.spacing: 1, .bucket: 58])
        },
        then("upstream_closed", "Apple was away, and came again") {
            $0.closeUpstream(at: 5)
            $0.openUpstream(at: 50)
            $0.push(at: 60, held: [.upstreamClosed: 45, .bucket: 50])
        },
        then("bucket", "Apple went away later") {
            $0.closeUpstream(at: 30)
            $0.openUpstream(at: 50)
            $0.push(at: 60, held: [.upstreamClosed: 20, .bucket: 30])
        },
        then("paused", "a pause that is over") {
            $0.relay("pause.began", #"{"pause":"pau_1","activity":"cat-7"}"#, at: -5)
            $0.relay("pause.ended", #"{"pause":"pau_1","activity":"cat-7"}"#, at: 50)
            $0.push(at: 60, held: [.paused: 50])
        },
        then("relay_stopped", "the relay did not run") {
            $0.relay("relay.stopped", at: 5)
            $0.relay("relay.started", at: 50)
            $0.push(at: 60, held: [.bucket: 8])
        },
        then("relay_killed", "the relay was killed") {
            $0.kill(at: 5, until: 50)
            $0.push(at: 60, held: [.spacing: 1])
        },
        then("relay_killed", "the relay was killed, and it waits still") {
            $0.kill(at: 5, until: 50)
            $0.wait(.spacing)
        },
        then("spacing", "the relay was killed when it had gone already") {
            $0.kill(at: 61, until: 70)
            $0.push(at: 60, held: [.spacing: 59])
        },
        then("bucket", "the phone showed it later") {
            $0.push(at: 60, held: [.bucket: 59])
            $0.phone("card.reported", #"{"phase":"active","drawn_version":3}"#, at: 61)
        },
        then("phone_unreachable", "the phone says later that it shows what came in time") {
            $0.push(at: 2)
            $0.phone("card.reported", #"{"phase":"active","drawn_version":3}"#, at: 61)
        },
        then("phone_unreachable", "a swipe after the moment") {
            $0.phone("device.registered", "{}", at: -9)
            $0.push(at: 2)
            $0.phone("card.reported", swiped, at: 61)
        },
    ]

    private static let ofStaleCards = [
        Case("producer_silent", "the newest version is older than stale_after") {
            ($0.newest, $0.staleAt) = (3, Evidence.at(120))
            $0.push(at: 2)
        },
        Case(nil, "its phone has it, and its producer may still speak") {
            ($0.newest, $0.staleAt) = (3, Evidence.at(900))
            $0.push(at: 2)
            $0.phone("card.reported", #"{"phase":"active","drawn_version":3}"#, at: 61)
        },
    ]

    private static let cases =
        ofPushes + ofRefusals + ofSkips + ofWaits + ofMoments + ofStaleCards

    @Test(arguments: cases)
    private func `the first suspect is the cause, in whole sentences`(one: Case) {
        let found = Explainer(one.evidence).explanation
        let suspects = found.suspects.map { "\($0.code): \($0.text)" }
        #expect(found.suspects.first?.code == one.code, "\(suspects)")
        let texts =
            found.suspects.flatMap { [$0.text] + $0.speaksFor } + found.because.map(\.text)
        for text in texts + [found.answer] {
            #expect(text.hasSuffix(".") && !text.contains("  "), "\(text)")
        }
        let codes = Set(found.suspects.map(\.code))
        #expect(codes.count == suspects.count, "one cause is named once: \(suspects)")
        #expect(found.commands.allSatisfy { $0.hasPrefix("tombolo ") } && !found.commands.isEmpty)
    }

    @Test func `of a channel it says that nobody knows who listens`() {
        for newest in [Int64(3), 4] {
            let one = Case(nil, "Apple took version \(newest)") {
                $0.recipient = .channel($0.recipient.name)
                $0.push(newest)
            }
            let texts = Explainer(one.evidence).explanation.because.map(\.text)
            #expect(
                texts.contains { $0.hasSuffix(" Who listens on the channel is unknown.") },
                "\(texts)")
        }
        let phone = Case(nil, "a phone") { $0.push() }
        let texts = Explainer(phone.evidence).explanation.because.map(\.text)
        #expect(!texts.contains { $0.contains("listens") })
    }

    @Test func `it says what is kept for alerts where a push of high urgency went at 5`() {
        let one = Case(nil, "a push at 5") {
            $0.push(priority: 5)
            var record = $0.deliveries[0].record
            record.attempt?.reserve = Reserve(kept: 2, burst: 5)
            $0.deliveries = []
            $0.add(record, at: 1)
        }
        let texts = Explainer(one.evidence).explanation.because.map(\.text)
        let said = " It went at priority 5: 2 of the bucket's 5 are kept for alerts (reserve)."
        #expect(texts.contains { $0.hasSuffix(said) }, "\(texts)")
    }
}
