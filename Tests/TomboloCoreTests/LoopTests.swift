import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// A loop of pictures as scenario `runner` plays it: it begins with the picture that is there, and
/// goes on from the one that is shown.
@Suite struct LoopTests {
    private static func rig(_ budgetClass: BudgetClass = .lab, state: String = "0") -> Rig {
        var rig = Rig()
        rig.device("phone", budgetClass)
        rig.token("activity:cat", "bb")
        rig.command(
            .start, #"{"type":"Runner","audience":{"device":"phone"},"state":{"image":\#(state)}}"#)
        rig.advance(to: 30)
        return rig
    }

    private static func loop(_ rest: String = "", every: String = "100ms") -> String {
        #"{"flipbook":{"path":"/image","frames":[0,1,2,3,4],"every":"\#(every)"\#(rest)}}"#
    }

    private static func images(_ rig: borrowing Rig, from: Int) -> [Int64] {
        rig.pushes.dropFirst(from).compactMap {
            Rig.aps($0.push)?["content-state"]?["image"]?.integer
        }
    }

    @Test(arguments: [BudgetClass.lab, .frequent, .standard])
    func `the first push never repeats the picture that the phone shows`(
        budgetClass: BudgetClass
    ) throws {
        var rig = Self.rig(budgetClass)
        let before = rig.pushes.count
        rig.command(.play, Self.loop())
        rig.advance(to: 90)
        let images = Self.images(rig, from: before)
        #expect(images.prefix(4) == [1, 2, 3, 4], "\(budgetClass): \(images.prefix(8))")
        let first = try #require(rig.pushes.dropFirst(before).first?.at.seconds)
        #expect(first < 31 || budgetClass == .standard, "\(first)")
    }

    @Test func `start_at selects the first frame, and that frame is not repeated`() {
        var rig = Self.rig(state: "3")
        let before = rig.pushes.count
        rig.command(.play, Self.loop(#","start_at":3"#))
        rig.advance(to: 31)
        #expect(Self.images(rig, from: before).prefix(4) == [4, 0, 1, 2])
        rig = Self.rig(state: "9")
        rig.command(.play, Self.loop(#","start_at":3,"loop":"once""#))
        rig.advance(to: 33)
        #expect(Self.images(rig, from: before).prefix(5) == [3, 4, 0, 1, 2])
        #expect(rig.view()?.state.bytes == Rig.json(#"{"image":2}"#).json.bytes)
    }

    @Test(arguments: [BudgetClass.lab, .frequent])
    func `another speed goes on from the picture that each phone shows`(budgetClass: BudgetClass) {
        var rig = Self.rig(budgetClass)
        let before = rig.pushes.count
        rig.command(.play, Self.loop())
        rig.advance(to: 43.05)
        rig.command(.play, Self.loop(every: "200ms"))
        rig.advance(to: 80)
        let images = Self.images(rig, from: before)
        #expect(images.count > 6)
        #expect(zip(images, images.dropFirst()).allSatisfy { ($0 + 1) % 5 == $1 }, "\(images)")
    }

    @Test func `a clip starts at the place that the producer gives`() {
        var rig = Self.rig()
        rig.command(.play, Self.loop())
        rig.advance(to: 30.25)
        let before = rig.pushes.count
        rig.command(.play, Self.loop(#","start_at":0"#))
        rig.advance(to: 31)
        #expect(Self.images(rig, from: before).prefix(3) == [0, 1, 2])
    }

    @Test func `other frames start from the first one`() {
        var rig = Self.rig()
        rig.command(.play, Self.loop())
        rig.advance(to: 30.25)
        let before = rig.pushes.count
        rig.command(
            .play, #"{"flipbook":{"path":"/image","frames":[7,8,9],"every":"100ms"}}"#)
        rig.advance(to: 31)
        #expect(Self.images(rig, from: before).prefix(3) == [7, 8, 9])
    }

    @Test(arguments: [("-1", "/flipbook/start_at"), ("5", "/flipbook/start_at")])
    func `a first frame that is none is refused`(startAt: String, pointer: String) {
        var reader = FieldReader(Rig.json(Self.loop(#","start_at":\#(startAt)"#)))
        _ = Clip(reading: &reader)
        #expect(reader.errors.map(\.pointer) == [pointer])
    }
}
