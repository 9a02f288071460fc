import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// A device's own timelines, its zone, and what of its registration stays.
@Suite struct DeviceTimelineTests {
    private static let own = #"{"subject":{"device":"phone"},"content":{"secret":1}}"#

    /// Reloads that went since a place among the pushes.
    private static func reloads(_ rig: borrowing Rig, from place: Int) -> Int {
        rig.pushes.dropFirst(place).count { "\($0.push.token)" == "ee" }
    }

    @Test func `a device's timeline goes with the device`() {
        var rig = TimelineTests.rig()
        rig.timeline(Self.own)
        #expect(rig.entries("profile")?.isEmpty == false)
        rig.tell(.delete, "phone")
        rig.register("phone", #"{"user":"u42"}"#)
        #expect(rig.timelines().isEmpty)
        #expect(rig.entries("profile")?.isEmpty == true)
        _ = rig.crash(recoverAt: 100)
        #expect(rig.timelines().isEmpty)
    }

    @Test(arguments: [#"{"user":"other"}"#, #"{"user":null}"#])
    func `the next user of a device reads nothing of the previous user`(fields: String) {
        var rig = TimelineTests.rig()
        rig.timeline(Self.own)
        rig.register("phone", fields)
        #expect(rig.entries("profile")?.isEmpty == true)
        #expect(rig.timelines().isEmpty)
    }

    @Test(arguments: [
        (#"{"user":"other"}"#, 1), (#"{"user":null}"#, 1), (#"{"time_zone":"Asia/Tokyo"}"#, 1),
        (#"{"locale":"ja"}"#, 0), (#"{"user":"u42","time_zone":"Europe/Berlin"}"#, 0),
    ])
    func `another user or zone reloads the device's widgets`(fields: String, reloads: Int) {
        var rig = TimelineTests.rig()
        rig.advance(to: 10)
        let before = rig.pushes.count
        rig.register("phone", fields)
        rig.advance(to: 20)
        #expect(Self.reloads(rig, from: before) == reloads)
    }

    @Test(
        arguments: [
            (#"{"time_zone":"Europe/Berlim"}"#, "/time_zone"), (#"{"time_zone":""}"#, "/time_zone"),
            (#"{"os":""}"#, "/os"), (#"{"control_center":"left"}"#, "/control_center"),
            (#"{"control_center":""}"#, "/control_center"), (#"{"locale":""}"#, "/locale"),
        ])
    func `a member that says nothing never refuses a registration, and what was known stays`(
        fields: String, pointer: String
    ) {
        var rig = TimelineTests.rig()
        rig.register("phone", fields)
        #expect(rig.lastStored?.lint.map(\.code).first == .memberNotUnderstood)
        #expect(rig.lastStored?.lint.map(\.pointer).first == pointer)
        let device = rig.core.devices.compactMap(\.self).first
        #expect(device?.registration.timeZone == "Europe/Berlin")
        #expect(device?.registration.os == "26.1")
        #expect(device?.registration.controlCenter != "left")
    }

    @Test func `a value that a registration leaves out stays, and null removes it`() {
        var rig = TimelineTests.rig()
        func registration() -> DeviceRegistration? {
            rig.core.devices.compactMap(\.self).first?.registration
        }
        rig.register("phone", #"{"locale":"ja"}"#)
        #expect(registration()?.user == "u42")
        #expect(registration()?.os == "26.1")
        rig.register("phone", #"{"frequent_updates":true,"os":null}"#)
        #expect(registration()?.os == nil)
        #expect(registration()?.locale == "ja")
        #expect(registration()?.frequentUpdates == true)
        _ = rig.crash(recoverAt: 100)
        rig.register("phone", "{}")
        #expect(registration()?.locale == "ja")
        #expect(registration()?.frequentUpdates == true)
    }

    @Test func `a device has so many timelines, and a timeline so many readers' devices`() {
        var rig = TimelineTests.rig()
        for kind in 1...Timeline.ofDeviceMax { rig.timeline(Self.own, kind: "k\(kind)") }
        #expect(rig.lastRefusal == nil)
        rig.timeline(Self.own, kind: "k1")
        #expect(rig.lastRefusal == nil, "it is there already")
        rig.timeline(Self.own, kind: "one-more")
        #expect(rig.lastRefusal == .limitReached)
    }

    @Test func `of a user with very many timelines some are looked at in each step`() {
        var rig = TimelineTests.rig()
        let body =
            #"{"subject":{"user":"u42"},"content":{},"#
            + #""schedule":{"daily":{"at":"06:00","zone":"device"},"count":1}}"#
        for kind in 1...2_500 { rig.timeline(body, kind: "k\(kind)") }
        let before = rig.core.timelines.nextDue
        rig.register("phone", #"{"time_zone":"Asia/Tokyo"}"#)
        #expect(rig.core.timelines.hasMoved)
        rig.step(.tick)
        rig.step(.tick)
        #expect(!rig.core.timelines.hasMoved)
        #expect(rig.core.timelines.nextDue != before)
    }
}
