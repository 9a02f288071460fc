import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// Folding events gives the content state, with the producer's very bytes.
@Suite struct ProjectionTests {
    static func text(_ rig: borrowing Rig) -> String? {
        rig.view().map { String(decoding: $0.state.bytes, as: UTF8.self) }
    }

    @Test func `a merge patch changes what it names and keeps every other byte`() {
        var rig = Rig()
        rig.command(
            .start,
            #"{"type":"R","state":{"z":1.50,"a":"x\/y","deep":{"k":1e3,"l":[1, 2]},"gone":true}}"#)
        rig.command(.update, #"{"state":{"gone":null,"deep":{"m":"é"},"new":0.10}}"#)
        #expect(
            Self.text(rig)
                == #"{"z":1.50,"a":"x\/y","deep":{"k":1e3,"l":[1, 2],"m":"é"},"new":0.10}"#)
    }

    @Test func `replace sets the state whole`() {
        var rig = Rig()
        rig.command(.start, #"{"type":"R","state":{"a":1}}"#)
        rig.command(.update, #"{"replace":{ "b" : 2 }}"#)
        #expect(Self.text(rig) == #"{ "b" : 2 }"#)
    }

    @Test func `an older state version is logged and superseded`() {
        var rig = Rig()
        rig.command(.start, #"{"type":"R","state":{"a":0}}"#)
        rig.command(.update, #"{"state":{"a":5},"state_version":5}"#)
        rig.command(.update, #"{"state":{"a":4},"state_version":4}"#)
        #expect(Self.text(rig) == #"{"a":5}"#)
        #expect(rig.view()?.version == 3)
    }

    @Test func `an end may change the state once more`() {
        var rig = Rig()
        rig.command(.start, #"{"type":"R","state":{"a":0}}"#)
        rig.command(.end, #"{"state":{"a":9},"dismiss":"after 15m"}"#)
        #expect(Self.text(rig) == #"{"a":9}"#)
    }

    @Test func `all faults are reported at once, with pointers and a suggestion`() {
        let body = #"{"sate":{},"relevance":"high","stale_after":"2 weeks","alert":{"titel":1}}"#
        let error = #expect(throws: FieldErrors.self) { try Command(.start, body) }
        // "state" is there, under a name that is nearly its own: it is not missing too.
        let faults = ["/sate", "/relevance", "/stale_after", "/alert/titel", "/type"]
        #expect(Set(error?.errors.map(\.pointer) ?? []) == Set(faults))
        #expect(error?.errors.contains { $0.message.contains("\"state\"") } == true)
    }

    @Test(
        arguments: [
            ("content_state", "state"), ("Content-State", "state"), ("attributes-type", "type"),
            ("apnsPriority", "urgency"), ("stale_date", "stale_after"), ("event", "PUT starts"),
            ("aps", "the relay makes Apple's payload"), ("xpto", nil),
        ] as [(String, String?)])
    func `Apple's words are answered with the relay's`(theirs: String, ours: String?) throws {
        let document = try JSONDocument(Array(#"{"\#(theirs)":1}"#.utf8))
        let faults = #expect(throws: FieldErrors.self) {
            try Command.Content(kind: .start, document.root)
        }
        let message = faults?.errors.first?.message ?? ""
        #expect(message.hasPrefix("unknown field") && message.contains(ours ?? ""), "\(message)")
        #expect(message.contains("; there are type, app, state,") == (ours == nil), "\(message)")
    }

    @Test(
        arguments: [
            (.start, #""audience":{"user":42}"#, "/audience/user must be a string"),
            (.start, #""audience":["a"]"#, #"/audience must be a JSON object: {"device":"#),
            (.start, #""alert":"text""#, #"/alert must be a JSON object: {"title":"#),
            (.start, #""state":1"#, "/state must be a JSON object: the content state"),
            (.start, #""type":"""#, "/type is empty: the name of the app's"),
            (.start, #""type":7"#, "/type must be a string: the name of the app's"),
            (.start, #""state":null"#, "/state must not be null: the content state"),
            (.start, #""device":"phone-1""#, "/device unknown field; there are type, app, state,"),
            (.start, #""alert":{"title":"a","message":"b"}"#, "there are title, body, sound"),
            (.update, #""alert":"text""#, #"/alert must be a JSON object: {"title":"#),
            (.update, #""state":{},"audience":{}"#, "there are state, replace, alert"),
            (.play, #""tween":3"#, #"/tween must be a JSON object: {"path","frames""#),
        ] as [(EventKind, String, String)])
    func `one mistake is one fault, with its cure`(
        kind: EventKind, members: String, says: String
    ) throws {
        let whole = kind == .start ? [#""type":"T""#, #""state":{}"#] : []
        let others = whole.filter { !members.hasPrefix($0.prefix { $0 != ":" }) }
        let body = "{" + (others + [members]).joined(separator: ",") + "}"
        let document = try JSONDocument(Array(body.utf8))
        let faults = #expect(throws: FieldErrors.self) {
            try Command.Content(kind: kind, document.root)
        }
        let texts = faults?.errors.map { "\($0.pointer) \($0.message)" } ?? []
        #expect(texts.count == 1 && texts.first?.contains(says) == true, "\(texts)")
    }

    @Test func `the payload is Apple's: whole seconds, unescaped slashes, bytes as given`() throws {
        var rig = Rig()
        rig.device(os: "18.0")
        rig.token("start:Runner", "aa")
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"attributes":{"n":"a/b"},"state":{"image":"iVBOR/+=="},"alert":{"title":"Off","body":"Go"},"relevance":1.0,"stale_after":"2m"}"#
        )
        let push = try #require(rig.pushes.first?.push)
        let seconds = Rig.epoch.seconds
        #expect(
            String(decoding: push.payload, as: UTF8.self)
                == #"{"aps":{"timestamp":\#(seconds),"event":"start","content-state":{"image":"iVBOR/+=="},"attributes-type":"Runner","attributes":{"n":"a/b","activity_id":"cat"},"input-push-token":1,"alert":{"title":"Off","body":"Go"},"stale-date":\#(seconds + 120),"relevance-score":1.0}}"#
        )
        #expect(push.expiration == seconds + 600)
        #expect(push.priority == 10)
        #expect(push.collapseID == "start-f0e661e7e00208d8-1")
        rig.token("activity:cat", "bb")
        rig.advance(to: 5)
        rig.command(.end, #"{"dismiss":"after 15m"}"#)
        let end = try #require(rig.pushes.last?.push)
        #expect(end.expiration == seconds + 5 + 4 * 3_600)
        #expect(Rig.aps(end)?["dismissal-date"]?.integer == seconds + 5 + 900)
    }
}
