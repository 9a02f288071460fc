import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLoop
import TomboloRelay

// Doors: a producer says who may see and open each, phones look at them and tap, and the producer
// opens by what the history tells of a tap.

/// One door, and who may open it, each time with a number of its own.
final class DoorBook {
    let tenant: TenantID
    let id: Identifier
    /// By number; at first nobody may.
    var readers: [Set<String>] = [[]]
    /// The newest number that the relay has taken.
    var taken = 0

    init(_ tenant: TenantID, _ id: Identifier) { (self.tenant, self.id) = (tenant, id) }

    /// All who may open it, by one of the numbers from there on.
    func users(since number: Int) -> Set<String> {
        readers[number...].reduce(into: Set()) { $0.formUnion($1) }
    }

    /// Whether one of them may open it, by one of the numbers from there on.
    func isOpen(to users: Set<String>, since number: Int) -> Bool {
        !self.users(since: number).isDisjoint(with: users)
    }
}

/// A tap on a door's button.
final class DoorTap {
    let number: Int
    let door: DoorBook
    let phone: Phone
    let at: Instant
    /// By how much the phone's clock was ahead.
    let ahead: Span
    /// What the relay had taken of the door then, and whom it may have held for the phone's user.
    let since: Int
    let users: Set<String>
    /// The relay has said that it is on record; the producer has read it there.
    var isTaken = false
    var isSeen = false
    var openings = 0

    init(_ number: Int, _ door: DoorBook, _ phone: Phone, at: Instant) {
        (self.number, self.door, self.phone, self.at) = (number, door, phone, at)
        (ahead, since, users) = (phone.clockAhead, door.taken, phone.users)
    }
}

extension World {
    private static let doorKind = Plan.identifier("door")
    private static let doorType = "Door"
    private static let unlock = "UnlockDoor"

    /// The log knows less than was answered, or forgets what is old.
    private static let forgetting: FaultSet = [FaultSet(.restores), FaultSet(.months)]

    func makeDoors() {
        guard faults.contains(FaultSet(.widgets)) else { return }
        for tenant in plan.tenants {
            doorBooks += ["door-1", "door-2"].map { DoorBook(tenant, Plan.identifier($0)) }
        }
    }

    // MARK: The producer

    /// Says now and then who may open which, until the heal.
    func keepDoors() async {
        guard !doorBooks.isEmpty else { return }
        let gap = Int(plan.chaos.components.seconds) * 1_000 / 12
        while !isHealed, !isOver {
            _ = await put(dice.pick(.doors, doorBooks))
            await pause(dice.time(.doors, 1...2 * gap))
        }
    }

    /// When nothing goes wrong any more, every door is said once more.
    func changeDoors() async {
        for door in doorBooks {
            for _ in 0..<2_000 {
                if await put(door) { break }
                await pause(.milliseconds(300))
            }
        }
    }

    /// - Returns: whether the relay has taken it.
    private func put(_ door: DoorBook) async -> Bool {
        guard let life, life.isReady, let relay = life.relay,
            // The simulation writes what it reads.
            let type = try? ActivityType(reading: Self.json(#"{"intents":["\#(Self.unlock)"]}"#)),
            case .stored = await relay.storeType(
                type, named: Self.doorType, app: nil, tenant: door.tenant), !life.isDead
        else { return false }
        let users = dice.pick(.doors, [["ann"], ["bob"], ["ann", "bob"]])
        let number = door.readers.count
        let names = users.map { "\"\($0)\"" }.joined(separator: ",")
        let body =
            #"{"subject":{"key":"\#(door.id)","readers":{"users":[\#(names)]}},"#
            + #""type":"\#(Self.doorType)","content":{"door":"\#(door.id)","number":\#(number)}}"#
        // The simulation writes what it reads.
        guard let request = try? TimelineRequest(reading: Self.json(body)) else {
            preconditionFailure(body)
        }
        door.readers.append(Set(users))
        // Whose door it was until now, by whichever number the relay knows, and whose it is.
        let touched = door.users(since: since(door.taken))
        for book in reloadBooks
        where book.phone.tenant == door.tenant && book.name == .widget
            && !book.phone.users.isDisjoint(with: touched)
        {
            book.wantedAt = loop.now
        }
        note(.command, who: -1, Int64(number), 0, "\(door.id) is for \(names)")
        let answer = await relay.submitTimelineCommand(
            .put(request, kind: Self.doorKind), of: door.tenant)
        note(.answer, who: -1, Int64(number), 0, "\(answer)")
        guard !life.isDead, case .stored = answer else { return false }
        door.taken = max(door.taken, number)
        return true
    }

    /// Reads the taps of a tenant's phones, and opens.
    func followTaps(of tenant: TenantID) async {
        var after: Int64 = 0
        var seen: Set<String> = []
        while !doorBooks.isEmpty, !isOver {
            let isAway = !isHealed && dice.happens(.doors, oneIn: 12)
            await pause(dice.time(.doors, isAway ? 5_000...90_000 : 100...3_000))
            guard let life, life.isReady, let relay = life.relay else { continue }
            var query = FactQuery(tenant: tenant)
            query.kinds = [DeviceAction.factKind]
            // A log that was put back gives the places after it once more: all is read again.
            query.after = faults.contains(FaultSet(.restores)) ? 0 : after
            // A disk that fails is asked again.
            guard let page = try? await relay.facts(query) else { continue }
            for recorded in page.facts {
                // The relay wrote it.
                guard let fact = (try? JSONDocument(recorded.fact.body))?.root,
                    let action = fact["action"]?.string
                else {
                    violated(.doors, "an action that cannot be read")
                    continue
                }
                after = max(after, recorded.tenantSeq)
                if seen.insert(action).inserted { act(on: fact) }
            }
        }
    }

    /// What a producer does: it opens the door that the action names, while it holds.
    private func act(on fact: JSONView) {
        guard let number = fact["parameters"]?["tap"]?.integer,
            doorTaps.indices.contains(Int(number)),
            let end = fact["expires_at"]?.string.flatMap(Instant.init(rfc3339:))
        else { return violated(.doors, "an action that nobody did") }
        let tap = doorTaps[Int(number)]
        tap.isSeen = true
        let now = clock.trueNow()
        guard now < end else { return }
        tap.openings += 1
        note(.command, who: tap.phone.number, number, 0, "\(tap.door.id) opens")
        func check(_ holds: Bool, _ detail: @autoclosure () -> String) {
            guard !holds else { return }
            violated(.doors, "tap \(number) of phone \(tap.phone.number): \(detail())")
        }
        check(fact["config"]?.string == tap.door.id.rawValue, "it opens another door")
        check(
            fact["device"]?.string.map { tap.phone.ids.map(\.rawValue).contains($0) } == true,
            "another phone opens it")
        // A phone whose clock is ahead says so itself: the relay believes it by five seconds.
        let ahead = clocksAgree ? min(tap.ahead, .seconds(5)) : tap.ahead
        check(now - tap.at <= .seconds(30) + ahead, "it opens after \((now - tap.at).text)")
        check(tap.openings == 1 || faults.contains(FaultSet(.restores)), "it opens twice")
        check(
            tap.door.isOpen(to: tap.users.union(tap.phone.users), since: since(tap.since)),
            "\(tap.door.id) was not for \(tap.phone.users.sorted())")
    }

    /// A log that was put back may know of any number.
    private func since(_ number: Int) -> Int {
        faults.isDisjoint(with: Self.forgetting) ? number : 0
    }

    // MARK: Phones

    /// One phone looks at all doors of its tenant, also at those that are not for it, and taps.
    func visitDoors(of number: Int) async {
        let phone = phones[number]
        let doors = doorBooks.filter { $0.tenant == phone.tenant }
        let gap = Int(plan.chaos.components.seconds) * 1_000 / 6
        while !doors.isEmpty, !isOver, !isHealed {
            await pause(dice.time(.doors, 1...2 * gap))
            guard phone.isOnline else { continue }
            await look(at: doors, phone)
            for _ in 0..<(dice.happens(.doors, oneIn: 4) ? 2 : 1) {
                await tap(dice.pick(.doors, doors), phone)
            }
        }
    }

    private func look(at doors: [DoorBook], _ phone: Phone) async {
        guard let life, life.isReady, let relay = life.relay else { return }
        let reader = seam.reader(.device(phone.id, boundTo: nil))
        let before = phone.users
        let taken = doors.map(\.taken)
        for (door, taken) in zip(doors, taken) {
            let answer = await relay.entries(
                Self.doorKind, app: Self.appID, .key(door.id), family: nil, by: reader,
                of: phone.tenant)
            guard !life.isDead, case .success((let entries, _)) = answer else { continue }
            check(entries, of: door, at: phone, before, since: taken)
        }
        let answer = await relay.choices(
            Self.doorKind, app: Self.appID, family: nil, by: reader, of: phone.tenant)
        guard !life.isDead, case .success(let page) = answer else { return }
        for (key, entries) in page.choices {
            guard let index = doors.firstIndex(where: { $0.id == key }) else {
                violated(.doors, "phone \(phone.number) may choose \(key)")
                continue
            }
            check(entries, of: doors[index], at: phone, before, since: taken[index])
        }
    }

    private func check(
        _ entries: TimelineEntries, of door: DoorBook, at phone: Phone, _ before: Set<String>,
        since: Int
    ) {
        let content = entries.entries.first?.content.document.root
        guard content?["door"]?.string == door.id.rawValue,
            let number = content?["number"]?.integer.map(Int.init),
            door.readers.indices.contains(number)
        else { return violated(.doors, "phone \(phone.number) gets another door for \(door.id)") }
        let users = before.union(phone.users)
        if door.readers[number].isDisjoint(with: users) || number < self.since(since) {
            violated(
                .doors,
                "phone \(phone.number) of \(users.sorted()) sees \(door.id) of "
                    + "\(door.readers[number].sorted()), \(number) after \(since)")
        }
    }

    /// A person taps; the phone sends it, sometimes late, and again where there is no answer.
    private func tap(_ door: DoorBook, _ phone: Phone) async {
        let tap = DoorTap(doorTaps.count, door, phone, at: clock.trueNow())
        doorTaps.append(tap)
        let at = (tap.at + tap.ahead).rfc3339
        let body =
            #"{"widget":"\#(Self.doorKind)","config":"\#(door.id)","intent":"\#(Self.unlock)","#
            + #""parameters":{"tap":\#(tap.number)},"at":"\#(at)"}"#
        // The simulation writes what it reads.
        guard var action = try? DeviceAction(reading: Self.json(body)) else {
            preconditionFailure(body)
        }
        action.idempotency = IdempotencyKey(
            key: "tap-\(tap.number)", bodyDigest: UInt64(tap.number))
        for _ in 0..<3 where !isOver {
            let isSlow = dice.happens(.doors, oneIn: 3)
            await pause(dice.time(.doors, isSlow ? 5_000...40_000 : 5...1_500))
            guard phone.isOnline, let life, life.isReady, let relay = life.relay else { continue }
            let since = door.taken
            let answer = await relay.submitDeviceCommand(
                .action(seam.action(action)), for: phone.key, by: phone.authority)
            note(.answer, who: phone.number, Int64(tap.number), 0, "\(answer) to a tap")
            guard !life.isDead else { continue }
            switch answer {
            case .stored(let stored):
                tap.isTaken = true
                if stored.isReplay
                    || door.isOpen(
                        to: tap.users.union(phone.users), since: self.since(since))
                {
                    return
                }
                return violated(
                    .doors,
                    "the relay takes tap \(tap.number) on \(door.id), which is not for "
                        + "\(phone.users.sorted())")
            case .refused: return
            default: continue
            }
        }
    }

    // MARK: Checks

    /// Each tap that was taken is on record, and each door is there for those it is for.
    func checkDoors(_ relay: Relay) async {
        let restarting: FaultSet = [
            FaultSet(.deletedDevices), FaultSet(.deletions), FaultSet(.secondIDs),
            FaultSet(.changedUsers), FaultSet(.strangers), FaultSet(.wrongTokens),
        ]
        guard faults.isDisjoint(with: Self.forgetting), faults.isDisjoint(with: restarting) else {
            return
        }
        for tap in doorTaps where tap.isTaken && !tap.isSeen {
            violated(.doors, "tap \(tap.number) was taken, and is not on record")
        }
        for phone in phones where !phone.isWrong {
            guard phone.surfaces.contains(where: { $0.name == .widget && $0.isRegistered }) else {
                continue
            }
            for door in doorBooks where door.tenant == phone.tenant && door.taken > 0 {
                let answer = await relay.entries(
                    Self.doorKind, app: Self.appID, .key(door.id), family: nil,
                    by: .device(phone.id, boundTo: nil), of: phone.tenant)
                let isShown = if case .success = answer { true } else { false }
                if isShown != (door.readers.last ?? []).contains(phone.user) {
                    violated(
                        .doors,
                        "\(door.id) is \(isShown ? "" : "not ")there for phone \(phone.number)")
                }
            }
        }
    }
}
