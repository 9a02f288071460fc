import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// Whose key a device's key is, by the order in which keys were minted, over restarts
/// and deletions.
@Suite struct FormerKeyTests {
    private static func key(_ user: String, _ number: Int64) -> DeviceAuthority {
        .device(user: user, app: nil, key: number)
    }

    private static func isFormer(_ rig: borrowing Rig, _ authority: DeviceAuthority) -> Bool {
        rig.core.refusal(
            of: authority, for: DeviceKey(tenant: Rig.tenant, id: Identifier("phone")!),
            registers: true)?.code == .keyOfFormerUser
    }

    /// Keys 1 to `count` are minted.
    private static func mint(_ rig: inout Rig, _ numbers: ClosedRange<Int64>) {
        rig.step(.keys(numbers.map { ($0, [0x7b, 0x7d]) }, Ticket(900)))
        rig.commit()
    }

    private static func restart(_ rig: inout Rig) {
        let second = (rig.now - Rig.epoch).seconds + 1
        rig.advance(to: second)
        #expect(rig.crash(recoverAt: second + 1) == [])
    }

    @Test func `a key is former by its number, over restart, deletion and registration`() throws {
        var rig = Rig()
        Self.mint(&rig, 1...2)
        rig.tell(.register(try Self.registration("{}")), by: Self.key("u1", 1))
        rig.tell(.register(try Self.registration("{}")), by: Self.key("u2", 2))
        for round in 0..<4 {
            #expect(Self.isFormer(rig, Self.key("u1", 1)) == true, "round \(round)")
            #expect(Self.isFormer(rig, Self.key("u2", 1)) == false, "an older key of the same user")
            #expect(Self.isFormer(rig, Self.key("u1", 3)) == false, "one that was minted later")
            #expect(Self.isFormer(rig, .operate) == false)
            switch round {
            case 0, 2: Self.restart(&rig)
            case 1: rig.tell(.delete)
            default: break
            }
        }
        rig.tell(.register(try Self.registration("{}")), by: Self.key("u1", 1))
        #expect(rig.lastRefusal == .keyOfFormerUser)
        rig.tell(.register(try Self.registration("{}")), by: Self.key("u2", 2))
        #expect(Self.isFormer(rig, Self.key("u1", 1)) == true)
        rig.tell(.register(try Self.registration("{}")), by: Self.key("u1", 3))
        #expect(Self.isFormer(rig, Self.key("u2", 2)) == true)
    }

    @Test func `an operator's word counts as the newest key of then, also a deleted one`() throws {
        var rig = Rig()
        Self.mint(&rig, 1...5)
        rig.step(.keys([(5, nil)], Ticket(901)))
        rig.commit()
        Self.restart(&rig)
        rig.device("phone", user: "u2")
        #expect(Self.isFormer(rig, Self.key("u1", 5)) == true)
        #expect(Self.isFormer(rig, Self.key("u1", 6)) == false)
        // It says the same again, or something else: nothing is younger for it.
        Self.mint(&rig, 6...6)
        rig.device("phone", user: "u2")
        #expect(Self.isFormer(rig, Self.key("u1", 6)) == false)
        rig.tell(.register(try Self.registration(#"{"user":null}"#)))
        #expect(Self.isFormer(rig, Self.key("u1", 6)) == true)
        #expect(Self.isFormer(rig, Self.key("u2", 6)) == true)
    }

    @Test func `a device of an older relay was given its user by the newest key of then`() {
        var rig = Rig()
        Self.mint(&rig, 1...4)
        rig.device("phone", user: "u2")
        var recovery = rig.recovery()
        for index in recovery.records.indices where recovery.records[index].space == .device {
            let text = String(decoding: recovery.records[index].value ?? [], as: UTF8.self)
            let older = text.replacing(#""owner":{"user":"u2","key":4},"#, with: "")
            #expect(older != text)
            recovery.records[index].value = Array(older.utf8)
        }
        let damage = rig.recover(recovery)
        #expect(damage == [])
        // What was found then is not found again with the keys of later.
        Self.mint(&rig, 5...5)
        Self.restart(&rig)
        #expect(Self.isFormer(rig, Self.key("u1", 4)) == true)
        #expect(Self.isFormer(rig, Self.key("u1", 5)) == false)
    }

    @Test func `an erasure forgets whose a device was, and no key from before it is let in`() {
        var rig = Rig()
        Self.mint(&rig, 1...1)
        rig.device("phone", user: "u2")
        rig.tell(.delete)
        #expect(Self.isFormer(rig, Self.key("u1", 1)) == true)
        rig.step(
            .erase(.device(DeviceKey(tenant: Rig.tenant, id: Identifier("phone")!)), Ticket(902)))
        rig.commit()
        Self.mint(&rig, 2...2)
        for _ in 0..<2 {
            #expect(Self.isFormer(rig, Self.key("u1", 1)) == true)
            #expect(Self.isFormer(rig, Self.key("u2", 1)) == true)
            #expect(Self.isFormer(rig, .device(user: nil, app: nil, key: 1)) == true)
            #expect(Self.isFormer(rig, Self.key("u1", 2)) == false)
            Self.restart(&rig)
        }
        let kept = rig.recovery().records.filter { $0.space == .device }.compactMap(\.value)
        let texts = kept.map { String(decoding: $0, as: UTF8.self) }
        #expect(texts.count == 1 && !texts[0].contains("phone") && !texts[0].contains("u2"))
    }

    @Test func `beyond the limit the device that left first is forgotten`() {
        var departed = DepartedDevices()
        func key(_ number: Int) -> DepartedDevices.Name {
            .deleted(DeviceKey(tenant: Rig.tenant, id: Identifier("d\(number)")!))
        }
        for number in 1...DepartedDevices.countMax {
            let owner = DeviceOwner(user: "u", key: 1)
            let records = departed.add(key(number), .init(number: Int64(number), owner: owner))
            #expect(records.count == 1)
        }
        #expect(departed[key(1)] != nil)
        let one = DepartedDevices.countMax + 1
        let records = departed.add(
            key(one), .init(number: Int64(one), owner: DeviceOwner(user: "u", key: 1)))
        #expect(records.map(\.number) == [Int64(one), 1] && records[1].value == nil)
        #expect(departed[key(1)] == nil && departed[key(2)] != nil && departed[key(one)] != nil)
    }

    private static func registration(_ text: String) throws -> DeviceRegistration {
        try DeviceRegistration(reading: Rig.json(text))
    }
}
