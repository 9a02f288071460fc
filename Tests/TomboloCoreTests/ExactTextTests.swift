import CoreRig
import Testing

@testable import TomboloCore

/// Only the bytes decide whether two users, or two types, are one. Swift's `==` goes by Unicode's
/// equivalence.
@Suite struct ExactTextTests {
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"

    @Test func `the two spellings are one text to Swift, and two to the relay`() {
        #expect(Self.composed == Self.decomposed)
        #expect(!isSameText(Self.composed, Self.decomposed))
        #expect(isSameText(nil, nil) && !isSameText(nil, Self.composed))
        #expect(
            UserKey(tenant: .main, user: Self.composed)
                != UserKey(tenant: .main, user: Self.decomposed))
    }

    @Test func `a user's cards go to no phone of a user whose name is only equivalent`() {
        var rig = Rig()
        rig.device("other", user: Self.decomposed)
        rig.token("start:Cat", "aa02", "other")
        rig.command(
            .start, #"{"type":"Cat","audience":{"user":"\#(Self.composed)"},"state":{"lap":1}}"#)
        rig.advance(to: 60)
        #expect(rig.pushes.isEmpty)
        rig.device("own", user: Self.composed)
        rig.token("start:Cat", "aa03", "own")
        rig.advance(to: 120)
        #expect(rig.pushes.map(\.push.token) == ["aa03"])
    }

    @Test func `two types whose names Unicode calls equivalent are two`() {
        let names = [(Self.composed, "aa"), (Self.decomposed, "bb")]
        var rig = Rig()
        rig.device()
        for (name, token) in names {
            rig.type(#"{"renew":"always"}"#, named: name)
            rig.token("start:\(name)", token)
        }
        #expect(rig.recovery().records.count { $0.space == .type } == 2)
        for (name, token) in names {
            rig.command(
                .start, #"{"type":"\#(name)","audience":{"device":"phone"},"state":{}}"#, id: token)
            rig.advance(to: (rig.now - Rig.epoch).seconds + 5)
            #expect(rig.pushes.last?.push.token == token)
        }
        #expect(TokenName("control:\(Self.composed)") != TokenName("control:\(Self.decomposed)"))
    }
}
