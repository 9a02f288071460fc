import CoreRig
import Testing

@testable import TomboloCore

/// A head keeps all that its activity goes on from: a relay that begins with the head of any moment
/// comes to the same as the events.
@Suite struct HeadFoldTests {
    /// Between values of one row there is a way.
    private static let values = [
        ["0", "-0.0", "1e-320", "720", "-719.5", "1e12"],
        ["[0,1]", "[1e12,-3.25]", "[0.1,1]"],
        [##""#0080ff""##, ##""#ff7f00""##, ##""#010203""##],
        [##""#12345678""##, ##""#ffffff00""##],
        [##"{"x":720,"tint":"#00ff00"}"##, ##"{"tint":"#fedcba","x":0.1}"##],
    ]
    private static let easings = [
        #""linear""#, #""easeInOut""#, #"{"cubicBezier":[0.1,-0.7,0.9,1.8]}"#,
        #"{"spring":{"duration":"700ms","bounce":0.6}}"#, #"{"spring":{"duration":"2s"}}"#,
    ]

    /// One command at random: mostly clips that take over from each other.
    private static func change(
        _ rig: inout Rig, _ values: [String], _ chance: inout Chance
    ) {
        func one(_ list: [String]) -> String { list.randomElement(using: &chance) ?? "" }
        let value = one(values)
        switch Int.random(in: 0..<10, using: &chance) {
        case 0: rig.command(.stop, "{}")
        case 1: rig.command(.update, #"{"state":{"at":\#(value)}}"#)
        case 2: rig.command(.update, #"{"replace":{"at":\#(value)},"state_version":3}"#)
        case 3:
            rig.command(
                .play,
                #"{"flipbook":{"path":"/at","frames":[\#(value),\#(one(values))],"every":"70ms"}}"#)
        case 4: rig.command(.update, #"{"relevance":-0.0,"stale_after":"90s"}"#)
        default:
            let clock = one(["wall", "shown"])
            rig.command(
                .play,
                #"{"tween":{"path":"/at","to":\#(value),"duration":"1500ms","every":"10ms","#
                    + #""clock":"\#(clock)","easing":\#(one(easings))}}"#)
        }
    }

    @Test(arguments: 1...60)
    func `a relay that begins with any head comes to what the events come to`(
        _ seed: UInt64
    ) throws {
        var chance = Chance(seed)
        var rig = Rig()
        let values = Self.values[Int(seed) % Self.values.count]
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"state":{"at":\#(values[0])}}"#)
        var folds = [ActivityFold()]
        for step in 1...12 {
            for event in rig.history.dropFirst(Int(folds[0].seq)) {
                for index in folds.indices { #expect(folds[index].apply(event) == nil) }
            }
            let (head, version, seq) = try #require(rig.heads.values.first)
            for fold in folds {
                #expect(fold.difference(fromHead: head.value, version: version) == nil)
            }
            folds.append(try #require(ActivityFold(head.value, version: version, seq: seq)))
            rig.advance(to: Double(step) + Double.random(in: 0..<1, using: &chance))
            if step == 12 { rig.command(.end, "{}") } else { Self.change(&rig, values, &chance) }
        }
        #expect(rig.history.count > 6)
    }
}
