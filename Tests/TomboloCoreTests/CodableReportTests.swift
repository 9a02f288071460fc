import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// What an app reports is its own value: the same by the rules of its program, in another text.
@Suite struct CodableReportTests {
    private static let type = #"""
        {"state":{"type":"object","properties":{
        "id":{"type":"string","format":"uuid"},"note":{"type":["string","null"]},
        "part":{"type":"number"},"count":{"type":"integer"},"lap":{"type":"integer","default":1},
        "inner":{"type":"object","properties":{"ids":{"type":"array",
        "items":{"type":"string","format":"uuid"}}}},"free":{"type":"object"}}}}
        """#
    private static let sent = #"""
        {"id":"8c5f5c1e-0000-4000-8000-0123456789ab","note":null,"part":0.3,"count":16777217,
        "inner":{"ids":["8c5f5c1e-0000-4000-8000-0123456789ac"]},"free":{"a":1},"unknown":7}
        """#
    private static let given = #"""
        {"count":16777217,"free":{"a":1.0},"id":"8C5F5C1E-0000-4000-8000-0123456789AB",
        "inner":{"ids":["8C5F5C1E-0000-4000-8000-0123456789AC"]},"part":0.30000001192092896,"lap":1}
        """#

    private static func isSame(_ reported: String, _ sent: String = sent) throws -> Bool {
        let type = try ActivityType(reading: Rig.json(type))
        return StateSchema.isGivenBack(Rig.json(reported), for: Rig.json(sent), by: type.state)
    }

    @Test func `what Swift gives back is what was sent`() throws {
        #expect(try Self.isSame(Self.given))
        #expect(try Self.isSame(Self.sent))
    }

    @Test(arguments: [
        // A UUID that Swift would not write, another one, and another value of each kind.
        (#""8C5F5C1E-0000-4000-8000-0123456789AB""#, #""8c5f5c1E-0000-4000-8000-0123456789ab""#),
        (#""8C5F5C1E-0000-4000-8000-0123456789AB""#, #""8C5F5C1E-0000-4000-8000-0123456789AC""#),
        (#""count":16777217"#, #""count":16777216"#), (#""lap":1"#, #""lap":2"#),
        ("0.30000001192092896", "0.30000002"), (#""free":{"a":1.0},"#, ""),
        (#""free":{"a":1.0}"#, #""free":{}"#), (#""lap":1"#, #""more":1"#),
        (#""lap":1"#, #""note":"a""#), (#""part":"#, #""parts":"#),
    ])
    func `what differs in another way is another value`(_ part: (String, String)) throws {
        let changed = Self.given.split(separator: part.0, omittingEmptySubsequences: false)
            .joined(separator: part.1)
        #expect(changed != Self.given)
        #expect(try !Self.isSame(changed))
    }

    @Test func `without a type a report has all members, and may lack what is null`() {
        func isSame(_ reported: String, _ sent: String) -> Bool {
            StateSchema.isGivenBack(Rig.json(reported), for: Rig.json(sent), by: nil)
        }
        #expect(isSame(#"{"a":1}"#, #"{"a":1.0,"b":null}"#))
        #expect(!isSame("{}", #"{"a":1}"#) && !isSame(#"{"a":1}"#, "{}"))
        #expect(!isSame(#"{"at":1760000000}"#, #"{"at":1760000010}"#), "a whole number is no Float")
        #expect(isSame("[null,0.10000000149011612]", "[null,0.1]") && !isSame("[1]", "[1,2]"))
    }

    @Test func `a phone that has what was sent gets it once`() throws {
        var rig = Rig()
        rig.type(Self.type)
        rig.device("phone", .standard)
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone","start":"adopt"},"#
                + #""state":\#(Self.sent)}"#)
        rig.token("activity:cat", "aa", "phone")
        rig.report("cat", #"{"phase":"active","received_state":\#(Self.given)}"#, "phone")
        rig.command(.update, #"{"state":{"count":5}}"#)
        rig.advance(to: 30)
        let pushes = rig.pushes.count
        rig.report(
            "cat",
            #"{"phase":"active","received_state":"#
                + Self.given.split(separator: "16777217").joined(separator: "5") + "}", "phone")
        rig.advance(to: 3_000)
        #expect(rig.pushes.count == pushes, "no echo of what the phone has")
        #expect(rig.view()?.destinations.first?.shownMatches == true)
    }
}

/// A type whose states have the activity's version in them.
@Suite struct VersionInStateTests {
    private static let type = #"""
        {"state":{"type":"object","required":["n","v"],
        "properties":{"n":{"type":"integer"},"v":{"type":"integer"}}},"version_at":"/v"}
        """#

    private static func running() -> Rig {
        var rig = Rig()
        rig.type(Self.type)
        rig.device("phone", .lab)
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone","start":"adopt"},"state":{"n":0}}"#)
        rig.token("activity:cat", "aa", "phone")
        rig.advance(to: 1)
        return rig
    }

    private static func states(_ rig: borrowing Rig) -> [String] {
        rig.pushes.compactMap { push in
            let root = (try? JSONDocument(push.push.payload))?.root  // a payload of the relay's
            return root?["aps"]?["content-state"].map { String(decoding: $0.raw, as: UTF8.self) }
        }
    }

    @Test func `each state that is sent has its version, and an equal one is not sent`() {
        var rig = Self.running()
        rig.command(.update, #"{"state":{"n":1}}"#)
        rig.advance(to: 5)
        rig.command(.update, #"{"state":{"n":1}}"#)
        rig.advance(to: 10)
        rig.command(.end, #"{"state":{"n":2}}"#)
        rig.advance(to: 20)
        #expect(
            Self.states(rig) == [#"{"n":0,"v":1}"#, #"{"n":1,"v":2}"#, #"{"n":2,"v":4}"#])
    }

    @Test func `a report says which version the phone has, also an older one`() {
        var rig = Self.running()
        for n in 1...3 {
            rig.command(.update, #"{"state":{"n":\#(n % 2)}}"#)
            rig.advance(to: Double(n) * 5)
        }
        for (state, received, matches) in [
            (#"{"v":2,"n":1}"#, Int64(2), false), (#"{"v":4,"n":1}"#, 4, true),
            // What is equal but for its version is what is to be shown.
            (#"{"v":9,"n":1}"#, 4, true),
        ] {
            rig.report("cat", #"{"phase":"active","received_state":\#(state)}"#, "phone")
            let destination = rig.view()?.destinations.first
            #expect(destination?.shown?.received == received, "\(state)")
            #expect(destination?.shownMatches == matches, "\(state)")
        }
    }

    @Test func `the version's place is the relay's`() throws {
        var rig = Self.running()
        rig.command(.update, #"{"state":{"v":7}}"#)
        #expect(rig.lastRefusal == .invalidField)
        rig.command(.play, #"{"flipbook":{"path":"/v","frames":[1,2],"every":"1s"}}"#)
        #expect(rig.lastRefusal == .invalidField)
        for body in [
            #"{"state":{"properties":{"n":{}}},"version_at":"/v"}"#, #"{"version_at":"v"}"#,
            #"{"version_at":"/v","presence":{"path":"/v","active":1,"inactive":0}}"#,
        ] {
            #expect(throws: FieldErrors.self) { try ActivityType(reading: Rig.json(body)) }
        }
    }
}
