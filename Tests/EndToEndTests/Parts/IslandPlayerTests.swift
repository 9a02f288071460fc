import TestSupport
import Testing
import TomboloCore
import TomboloCrypto
import TomboloJSON

@testable import TomboloProgram

/// What the terminal's phones draw of a state at given instants of their clock.
@Suite struct IslandPlayerTests {
    private static let start = Instant(seconds: 1_800_000_000)

    private static let catFace = face(#"{"image":"/image"}"#)
    private static let turnFace = face(#"{"radial":{"angle":"/offset","moves":"angle"}}"#)

    /// Of a type with this preview.
    static func face(_ preview: String) -> IslandFace {
        var type = JSON.emptyObject
        // The text is of these tests: one that cannot be read fails where it is compared.
        if let view = try? JSON(validating: Array(preview.utf8)) {
            type = type.setting(JSONPointer(tokens: ["preview"]), to: view) ?? type
        }
        // The same.
        return (try? ActivityType(reading: type.document.root)).map(IslandFace.init) ?? IslandFace()
    }

    private static func picture(_ player: IslandPlayer, at now: Instant) -> Bitmap? {
        if case .picture(let picture)? = player.drawing(at: now) { picture } else { nil }
    }

    private static func json(_ text: String) throws -> JSON {
        try JSONDocument(Array(text.utf8)).root.json
    }

    /// A state as the relay sends a bundle: the frame of now, and all of them beside it.
    private static func bundle(loop: String = "true", frames: [String] = RunnerCat.frames) throws
        -> JSON
    {
        let list = frames.map { "\"\($0)\"" }.joined(separator: ",")
        return try json(
            #"{"image":"\#(frames[0])","clip":{"path":"/image","frames":[\#(list)],"every":0.1,"#
                + #""loop":\#(loop),"began":1800000000}}"#)
    }

    private static func cat(_ index: Int) -> Bitmap? {
        Base64Picture.of(RunnerCat.frames[index])
    }

    @Test func `a bundle is played at its interval, from one push`() throws {
        var player = IslandPlayer()
        player.hold(
            try Self.bundle(), of: "cat", as: Self.catFace, at: Self.start + .milliseconds(30))
        // Each frame for its tenth of a second, by the moment at which the bundle began, and round.
        for (after, frame) in [
            (30, 0), (99, 0), (100, 1), (250, 2), (499, 4), (500, 0), (12_345, 3),
        ] {
            let drawn = Self.picture(player, at: Self.start + .milliseconds(Int64(after)))
            #expect(drawn != nil)
            #expect(drawn == Self.cat(frame), "after \(after) ms")
        }
    }

    @Test func `what plays twice stays at its last frame`() throws {
        var player = IslandPlayer()
        player.hold(try Self.bundle(loop: "2"), of: "cat", as: Self.catFace, at: Self.start)
        #expect(Self.picture(player, at: Self.start + .milliseconds(510)) == Self.cat(0))
        #expect(Self.picture(player, at: Self.start + .milliseconds(999)) == Self.cat(4))
        #expect(Self.picture(player, at: Self.start + .seconds(60)) == Self.cat(4))
    }

    @Test func `a state without a bundle stands still`() throws {
        var player = IslandPlayer()
        player.hold(try Self.bundle(), of: "cat", as: Self.catFace, at: Self.start)
        let still = try Self.json(#"{"image":"\#(RunnerCat.frames[3])"}"#)
        player.hold(still, of: "cat", as: Self.catFace, at: Self.start + .seconds(1))
        #expect(Self.picture(player, at: Self.start + .milliseconds(1_050)) == Self.cat(3))
        #expect(Self.picture(player, at: Self.start + .milliseconds(1_150)) == Self.cat(3))
        player.clear()
        #expect(Self.picture(player, at: Self.start + .seconds(2)) == nil)
    }

    @Test(arguments: [
        #""every":0,"loop":true,"began":1"#, #""every":0.1,"loop":0,"began":1"#,
        #""every":1e300,"loop":true,"began":1"#, #""every":0.1,"loop":true,"began":1e300"#,
        #""every":0.1,"loop":true"#,
    ])
    func `a bundle that cannot be played is drawn as the frame beside it`(_ rest: String) throws {
        var player = IslandPlayer()
        let state = try Self.json(
            #"{"image":"\#(RunnerCat.frames[2])","clip":{"path":"/image","#
                + #""frames":["\#(RunnerCat.frames[0])"],\#(rest)}}"#)
        player.hold(state, of: "cat", as: Self.catFace, at: Self.start)
        #expect(Self.picture(player, at: Self.start + .seconds(1)) == Self.cat(2))
    }

    private static func offset(_ player: IslandPlayer, after milliseconds: Int) -> Double? {
        player.turn(at: start + .milliseconds(Int64(milliseconds)))?.angle
    }

    @Test func `between keyframes the number moves`() throws {
        var player = IslandPlayer()
        player.hold(try Self.json(#"{"offset":0}"#), of: "turn", as: Self.turnFace, at: Self.start)
        #expect(Self.offset(player, after: 0) == 0)
        // Half a second later: it takes as long as the change before it lasted.
        player.hold(
            try Self.json(#"{"offset":30}"#), of: "turn", as: Self.turnFace,
            at: Self.start + .milliseconds(500))
        #expect(Self.offset(player, after: 500) == 0)
        #expect(Self.offset(player, after: 750) == 15)
        #expect(Self.offset(player, after: 1_000) == 30)
        // A keyframe that comes meanwhile goes on from what is shown.
        player.hold(
            try Self.json(#"{"offset":60}"#), of: "turn", as: Self.turnFace,
            at: Self.start + .milliseconds(750))
        #expect(Self.offset(player, after: 750) == 15)
        #expect(Self.offset(player, after: 875) == 37.5)
        #expect(Self.offset(player, after: 1_000) == 60)
        #expect(Self.offset(player, after: 9_000) == 60)
    }

    /// After a pause the first part of a turn took two seconds, and the others a third of one.
    @Test func `a keyframe is reached when it says so, also after a pause`() throws {
        func keyframe(_ offset: Int, _ reached: Double) throws -> JSON {
            try Self.json(
                #"{"offset":\#(offset),"clip":{"path":"/offset","reached":\#(reached)}}"#)
        }
        var player = IslandPlayer()
        player.hold(try Self.json(#"{"offset":0}"#), of: "turn", as: Self.turnFace, at: Self.start)
        player.hold(
            try keyframe(30, 1_800_000_060.5), of: "turn", as: Self.turnFace,
            at: Self.start + .seconds(60))
        #expect(Self.offset(player, after: 60_250) == 15)
        // The next one comes late, and is there in time all the same.
        player.hold(
            try keyframe(60, 1_800_000_061), of: "turn", as: Self.turnFace,
            at: Self.start + .milliseconds(60_600))
        #expect(Self.offset(player, after: 60_600) == 30)
        #expect(Self.offset(player, after: 60_800) == 45)
        // The last is a state: it takes as long as the one before it.
        player.hold(
            try Self.json(#"{"offset":90}"#), of: "turn", as: Self.turnFace,
            at: Self.start + .milliseconds(61_000))
        #expect(Self.offset(player, after: 61_200) == 75)
        #expect(Self.offset(player, after: 61_400) == 90)
    }

    @Test(arguments: ["-1", "1e300", "\"soon\"", "1800000000", "1800009999"])
    func `a keyframe of no moment, or of a far one, takes its two seconds at most`(
        _ reached: String
    ) throws {
        var player = IslandPlayer()
        player.hold(try Self.json(#"{"offset":0}"#), of: "turn", as: Self.turnFace, at: Self.start)
        player.hold(
            try Self.json(#"{"offset":180,"clip":{"path":"/offset","reached":\#(reached)}}"#),
            of: "turn", as: Self.turnFace, at: Self.start + .seconds(60))
        #expect(Self.offset(player, after: 62_000) == 180)
    }

    @Test func `a number moves for two seconds at most`() throws {
        var player = IslandPlayer()
        player.hold(try Self.json(#"{"offset":0}"#), of: "turn", as: Self.turnFace, at: Self.start)
        player.hold(
            try Self.json(#"{"offset":180}"#), of: "turn", as: Self.turnFace,
            at: Self.start + .seconds(60))
        #expect(Self.offset(player, after: 61_000) == 90)
        #expect(Self.offset(player, after: 62_000) == 180)
    }

    @Test func `the same state once more does not begin again`() throws {
        var player = IslandPlayer()
        player.hold(try Self.json(#"{"offset":0}"#), of: "turn", as: Self.turnFace, at: Self.start)
        for after in [60_000, 61_000] {
            player.hold(
                try Self.json(#"{"offset":180}"#), of: "turn", as: Self.turnFace,
                at: Self.start + .milliseconds(Int64(after)))
        }
        #expect(Self.offset(player, after: 61_500) == 135)
    }

    @Test func `another activity's card begins where it stands`() throws {
        var player = IslandPlayer()
        player.hold(
            try Self.json(#"{"offset":180}"#), of: "turn", as: Self.turnFace, at: Self.start)
        player.hold(
            try Self.json(#"{"offset":0}"#), of: "next", as: Self.turnFace,
            at: Self.start + .seconds(5))
        #expect(Self.offset(player, after: 5_000) == 0)
    }

    @Test func `a state of no preview is its first two members, cut and printable`() throws {
        var player = IslandPlayer()
        #expect(player.drawing(at: Self.start) == nil)
        let state =
            #"{"clip":{},"step":"at the door\u001b[2J","minutes":12,"offset":90,"image":"x"}"#
        player.hold(try JSON(validating: Array(state.utf8)), of: "order-1", at: Self.start)
        #expect(
            player.drawing(at: Self.start) == .texts(["step: at the door [2", "minutes: 12"]))
    }

    @Test func `a preview says which texts, what progress and which date are drawn`() throws {
        var player = IslandPlayer()
        let state =
            ##"{"lap":3,"where":{"step":"oven\u0007"},"part":0.5,"eta":821692890,"tint":"#ff0000"}"##
        let face = Self.face(
            #"{"title":"/where/step","subtitle":"/lap","unit":"min","progress":"/part","timer":"/eta","#
                + #""tint":"/tint"}"#)
        player.hold(try Self.json(state), of: "order-1", as: face, at: Self.start)
        #expect(
            player.drawing(at: Self.start)
                == .texts(["oven ", "3 min", "[########        ]", "1:30"]))
        #expect(
            player.drawing(at: Self.start + .seconds(600))
                == .texts(["oven ", "3 min", "[########        ]", "0:00"]))
        player.hold(
            try Self.json(#"{"lap":null,"where":[],"part":2,"eta":"soon"}"#), of: "order-1",
            as: face, at: Self.start)
        #expect(player.drawing(at: Self.start) == .texts([]))
    }

    /// Half-way through 180 degrees: with the angle interpolated the avatars are on the circle, and
    /// with the places they meet in the middle.
    @Test func `half-way through a turn each app shows what the golden file says`() throws {
        let golden = try ProtocolFiles.json("examples/radial/halfway.json")
        let apps = try #require(golden["apps"]).elements.map { $0 }
        #expect(apps.count == 3)
        for app in apps {
            let moves = try #require(app["moves"]?.string)
            let face = Self.face(#"{"radial":{"angle":"/offset","moves":"\#(moves)"}}"#)
            var player = IslandPlayer()
            player.hold(try Self.json(#"{"offset":0}"#), of: "turn", as: face, at: Self.start)
            player.hold(
                try Self.json(#"{"offset":180}"#), of: "turn", as: face,
                at: Self.start + .seconds(10))
            let turn = try #require(player.turn(at: Self.start + .seconds(11)))
            let distance = try #require(app["distance"]?.double)
            #expect(abs(turn.distance - distance) < 0.001, "\(moves): \(turn)")
            #expect(turn.angle == app["angle"]?.double)
        }
    }

    @Test func `a second turn begins where the avatars are`() throws {
        let face = Self.face(#"{"radial":{"angle":"/offset","moves":"places"}}"#)
        var player = IslandPlayer()
        for (offset, after) in [(0, 0), (180, 10), (360, 11)] {
            player.hold(
                try Self.json(#"{"offset":\#(offset)}"#), of: "turn", as: face,
                at: Self.start + .seconds(Int64(after)))
        }
        let turn = try #require(player.turn(at: Self.start + .seconds(11)))
        #expect(turn.distance < 0.001, "in the middle")
        let end = try #require(player.turn(at: Self.start + .seconds(13)))
        #expect(end == IslandTurn(degrees: 360, of: 3))
    }
}

/// A frame of the cat as the island draws it.
private enum Base64Picture {
    static func of(_ image: String) -> Bitmap? {
        // The frames are compiled in: one that does not decode fails where it is compared.
        Base64.decode(image).flatMap(Bitmap.init(png:))
    }
}
