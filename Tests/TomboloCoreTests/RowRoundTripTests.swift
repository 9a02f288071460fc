import Testing
import TomboloJSON

@testable import CoreRig
@testable import TomboloCore

/// Each row that the core stores says all that its reader takes: decoded and encoded again it is
/// the same row.
@Suite struct RowRoundTripTests {
    // MARK: rows with one type

    /// The row as its own type writes what it has read; nil if that cannot read it. A checkpoint
    /// has another type for each way, and the shell reads the clock.
    private static func again(_ record: Record, _ value: [UInt8]) -> [UInt8]? {
        let number = record.number
        switch record.space {
        case .device:
            if let (name, entry) = DepartedDevices.departed(by: record) {
                var table = DepartedDevices()
                return table.add(name, entry).last?.value
            }
            return Device(record: value, number: number).flatMap { device in
                let surfaces = device.keptSurfaces.map { (name: $0.key.text, parts: $0.value) }
                return device.record(surfaces: surfaces.sorted { $0.name < $1.name }).value
            }
        case .key:
            guard number != KeyOrder.number else { return KeyOrder(record: value)?.record.value }
            var table = KeyTable()
            table.adopt(record)
            return table.stored.first?.value
        case .type:
            return RegisteredType.read(value, number: number).flatMap { $1.record($0).value }
        case .deadLetter: return DeadLetter(record: value, number: number)?.record().value
        case .channel: return Channel(record: value, number: number)?.record().value
        case .startHistory: return StartHistory(record: value, number: number)?.record().value
        case .timeline: return StoredTimeline.read(value, number: number)?.record().value
        case .upstream: return UpstreamRecord(record: value)?.record.value
        case .presence:
            return Presence.parts(of: record).flatMap { state, heard, observed in
                let presence = Presence(state, heardAt: heard, observedAt: observed)
                return presence.record(ofDevice: number) { $0 }.value
            }
        case .action: return actionHas(record, value) ? value : nil
        case .pause:
            guard let (tenant, serial) = Pause.ended(record: value) else {
                return Pause(record: value, number: number)?.encoded()
            }
            return Pause(
                number: number, serial: serial, tenant: tenant, scope: .all, alertsOnly: false,
                reason: nil, since: .distantPast
            ).ended()
        case .owedReload: return OwedReload(record: record)?.record.value
        case .checkpoint, .relay: return value
        }
    }

    /// Whether the table has all numbers and names of the row: it never writes the same row again.
    private static func actionHas(_ record: Record, _ value: [UInt8]) -> Bool {
        var table = ActionTable()
        guard table.adopt(record, name: { _ in nil }).isEmpty else { return false }
        var text = ""
        dump(table, to: &text)
        return JSON(unchecked: value).document.root.members.allSatisfy { name, value in
            let own = name == "digest" ? value.integer.map { "\(UInt64(bitPattern: $0))" } : nil
            return text.contains(own ?? value.string ?? String(decoding: value.raw, as: UTF8.self))
        }
    }

    private static func check(_ rig: borrowing Rig, _ seen: inout Set<RecordSpace>) {
        for record in rig.stored {
            guard let value = record.value else { continue }
            seen.insert(record.space)
            let text = String(decoding: value, as: UTF8.self)
            let other = again(record, value).map { String(decoding: $0, as: UTF8.self) }
            #expect(other == text, "\(record.space)")
        }
        for (number, (head, version, seq)) in rig.heads {
            let activity = Activity(head: head.value, number: number, version: version, seq: seq)
            let text = String(decoding: head.value, as: UTF8.self)
            #expect(activity.map { String(decoding: $0.headBytes(), as: UTF8.self) } == text)
        }
    }

    /// A life with a row of each kind.
    private static func life() -> Rig {
        var rig = Rig()
        rig.device("phone", user: "ann", os: "26.1")
        for (name, token) in [("start:Runner", "aa"), ("widget", "cc"), ("activity:cat", "bb")] {
            rig.token(name, token)
        }
        rig.type(#"{"families":{"systemSmall":["/lap"]},"id_at":"/activity_id"}"#)
        rig.timeline(#"{"subject":{"user":"ann"},"from":{"activity":"cat"}}"#)
        rig.channel("final", "dGhlIGNoYW5uZWw=")
        rig.step(.keys([(1, [123, 125]), (2, nil)], Ticket(9_100)))
        rig.resume(rig.pause(#"{"type":"Nobody","reason":"trial"}"#))
        rig.start()
        rig.presence(.active)
        ActionTests.post(&rig, #"{"activity":"cat"}"#, key: "tap", digest: .max)
        rig.update(lap: 1, until: 30)
        rig.reload(#"{"device":"phone"}"#)
        rig.answerFirst(9, with: .refusal(400, "BadTopic", .push))
        rig.update(lap: 2, .high, until: 400)
        rig.verdict = { _ in .accepted }
        rig.start(restart: true)
        rig.command(.update, #"{"state":{"lap":3},"alert":{"title":"t"}}"#)
        rig.tell(.delete, by: DeviceAuthority.operate)
        rig.advance(to: 2_000)
        return rig
    }

    @Test func `each row is the same after it was read and written`() {
        var seen: Set<RecordSpace> = []
        Self.check(Self.life(), &seen)
        for seed in UInt64(0)..<20 {
            var history = RandomHistory(seed: seed)
            history.run(steps: 40)
            Self.check(history.rig, &seen)
        }
        #expect(Set(RecordSpace.allCases).subtracting(seen) == [.relay], "the life lacks a row")
    }
}
