import CoreRig
import Testing
import TomboloCore
import TomboloSimulator

extension FailureRow {
    static let ofStates: [FailureRow] = [
        .init(
            "state does not decode into the type", .lint(.stateDoesNotDecode),
            .ignored(.contentStateDoesNotDecode),
            warn: {
                let type = try ActivityType(
                    reading: Rig.json(#"{"state":{"properties":{"image":{"type":"string"}}}}"#))
                return PushLint.lints(
                    #""event":"update","content-state":{"image":7}"#, type: type
                ).map { .lint($0.code) }
            },
            endure: { PhoneUnderFailure.silences { $0.update(image: "7") } }),
        .init(
            "date in the wrong epoch", .lint(.dateInAnotherEpoch), .ignored(.dateInAnotherEpoch),
            warn: { try Relaying.warnings(.update, #"{"state":{"endDate":1790000000}}"#) },
            endure: {
                PhoneUnderFailure.silences {
                    $0.change(#""event":"update","content-state":{"image":"b","at":1800000000}"#)
                }
            }),
        .init(
            "new required field against older app versions", .lint(.newRequiredField),
            .ignored(.contentStateDoesNotDecode),
            warn: {
                var rig = Rig()
                try Relaying.put(#"{"state":{"properties":{"image":{"type":"string"}}}}"#, &rig)
                return try Relaying.put(
                    #"{"state":{"properties":{"image":{"type":"string"}},"required":["image"]}}"#,
                    &rig
                ).map { .lint($0) }
            },
            endure: {
                PhoneUnderFailure.silences {
                    $0.change(#""event":"update","content-state":{"other":1}"#)
                }
            }),
        .init(
            "payload too large", .lint(.payloadTooLarge), .answered("PayloadTooLarge"),
            warn: { PushLint.codes(image: 4_097).map { .lint($0) } },
            endure: {
                var gateway = GatewayUnderFailure()
                return gateway.push(body: PushLint.update(bytes: 4_097))
            }),
        .init(
            "flip-book that cannot fit", .refused(.payloadTooLarge), .answered("PayloadTooLarge"),
            warn: {
                let frame = String(repeating: "x", count: 4_000)
                let clip = #"{"flipbook":{"path":"/lap","frames":["\#(frame)",1],"every":"1s"}}"#
                var rig = Rig()
                rig.runningActivity()
                rig.command(.play, clip)
                return rig.lastRefusal.map { [.refused($0)] } ?? []
            },
            endure: {
                var gateway = GatewayUnderFailure()
                return gateway.push(body: PushLint.update(bytes: 4_200))
            }),
        .init(
            "bundle the type does not declare", .lint(.clipBundleUndeclared), .shows("1 frame"),
            warn: {
                let book = #"{"path":"/lap","frames":[1,2],"every":"1s"}"#
                return try Relaying.warnings(.play, #"{"flipbook":\#(book),"fit":"bundle"}"#)
            },
            endure: {
                var phone = PhoneUnderFailure()
                phone.change(
                    #""event":"update","content-state":{"image":"b","clip":{"path":"/image","#
                        + #""frames":["c","d"],"every":0.1,"loop":true,"began":1}}"#)
                phone.pass(10)
                // One that came with the start, and one for the whole bundle.
                let shown = phone.phone.cards.first?.shownCount ?? 0
                return [.shows("\(shown - 1) frame")]
            }),
    ]

    static let ofStarts: [FailureRow] = [
        .init(
            "start without alert", .lint(.startWithoutAlert), .ignored(.alertMissing),
            warn: {
                try Relaying.warnings(
                    .start, #"{"type":"T","state":{},"audience":{"device":"phone"}}"#, id: "dog")
            },
            endure: { PhoneUnderFailure.silences(starts: false) { $0.start(alert: false) } }),
        .init(
            "start token of a terminated app", .lint(.startTokenOld), .ignored(.appTerminated),
            warn: {
                try Relaying.warnings(
                    .start, #"{"type":"Runner","state":{},"audience":{"device":"phone"}}"#,
                    id: "dog", after: { $0.advance(to: 31 * 86_400) })
            },
            endure: {
                PhoneUnderFailure.silences(starts: false) {
                    _ = $0.phone.setTerminated(true, at: PhoneUnderFailure.beginning)
                    $0.start()
                }
            }),
        .init(
            "apns-expiration: 0 on a start", .lint(.startNotStored),
            .ignored(.expiredWhileOffline),
            warn: {
                PushLint.codes(#""event":"start""#) { $0.expiration = "0" }.map { .lint($0) }
            },
            endure: {
                PhoneUnderFailure.silences(starts: false) {
                    _ = $0.phone.setOnline(false, at: $0.now)
                    $0.start(expiration: .immediate)
                }
            }),
        .init(
            "an app that cannot report its activity's id", .lint(.activityIDUnknown),
            .ignored(.activityIDUnknown),
            warn: {
                try Relaying.warnings(
                    type: #"{"id_at":null}"#, .start,
                    #"{"type":"Runner","state":{},"audience":{"device":"phone"}}"#, id: "dog")
            },
            endure: { PhoneUnderFailure.silences(starts: false) { $0.start(id: nil) } }),
        .init(
            "presence on a channel", .lint(.presenceOnChannel), .shows("1 more"),
            warn: {
                let start = #"{"type":"T","state":{},"audience":{"channel":"news"},"#
                return try Relaying.warnings(
                    .start, start + #""show_when":{"frames":"background"}}"#, id: "dog",
                    after: { $0.channel("news", "AAAA") })
            },
            endure: {
                // Whoever is in front: a phone shows what is broadcast.
                var gateway = GatewayUnderFailure()
                let channel = gateway.makeChannel()
                var phone = PhoneUnderFailure(channel: channel)
                let shown = phone.phone.cards.first?.shownCount ?? 0
                guard let broadcast = gateway.taken(on: channel) else { return [] }
                _ = phone.phone.receive(broadcast, at: phone.now)
                let later = phone.phone.cards.first?.shownCount ?? 0
                return [.shows("\(later - shown) more")]
            }),
    ]
}
