import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// A dry run of what is no event says what then happens: random words of devices and operators are
/// tried first, and then done.
@Suite struct OperatorDryRunTests {
    /// What a word comes to: an answer's kind and counts, or why it was refused.
    private static func text(_ run: Result<Stored, Refusal>) -> String {
        switch run {
        case .success(let stored):
            "\(stored.kind) \(stored.count) \(stored.unreachable) \(stored.lint.map(\.code))"
        case .failure(let refusal): "\(refusal.code) \(refusal.detail)"
        }
    }

    private static func text(_ answer: Answer?) -> String {
        switch answer {
        case .stored(let stored): text(.success(stored))
        case .refused(let refusal): text(.failure(refusal))
        case .replayAll, .partlyThere: "of a batch"
        case .acceptedAll(let all): "ended \(all.map { "\($0.activity) \($0.version)" })"
        case .accepted, .replay, .refusedBatch, nil: "nothing"
        }
    }

    private static func result(
        _ body: () throws(Refusal) -> Stored
    ) -> Result<Stored, Refusal> {
        Result { () throws(Refusal) in try body() }
    }

    /// One random life; answers what words came to, and how often.
    private static func live(seed: UInt64) throws -> [String: Int] {
        var chance = Chance(seed)
        var rig = Rig()
        rig.makesChannels = true
        rig.verdict = { push in
            push.payload.contains(UInt8(ascii: "7"))
                ? .refusal(400, "BadTopic", .push)
                : .accepted
        }
        var seen: [String: Int] = [:]
        for step in 0..<120 {
            rig.advance(to: Double(step * 3))
            let tried =
                Bool.random(using: &chance)
                ? try operatorActs(step, &rig, &chance) : try deviceActs(step, &rig, &chance)
            guard let tried else { continue }
            #expect(tried == Self.text(rig.answers.last), "seed \(seed), step \(step)")
            seen[String(tried.prefix { $0 != " " }), default: 0] += 1
        }
        return seen
    }

    private static func oneOf(_ names: [String], _ chance: inout Chance) throws -> String {
        try #require(names.randomElement(using: &chance))
    }

    /// Tries something that a producer or operator may ask, and does it; answers what was tried.
    private static func operatorActs(
        _ step: Int, _ rig: inout Rig, _ chance: inout Chance
    ) throws -> String? {
        let device = try oneOf(["phone", "tablet"], &chance)
        let activity = try oneOf(["cat", "dog"], &chance)
        switch Int.random(in: 0..<9, using: &chance) {
        case 0:
            rig.command(
                .start, #"{"type":"Runner","audience":{"device":"\#(device)"},"state":{"n":0}}"#,
                id: activity
            ) { $0.restart = true }
        case 1...2: rig.command(.update, #"{"state":{"n":\#(step)}}"#, id: activity)
        case 3: return try endMany(&rig)
        case 4:
            let pause = PauseCommand.resume(Int64.random(in: 1...4, using: &chance))
            let run = result { () throws(Refusal) in
                _ = try rig.core.dryRunPause(pause, of: Rig.tenant, now: rig.now)
                return Stored(.deleted)
            }
            rig.step(.pause(pause, Rig.tenant, Ticket(9)))
            return text(run)
        case 5: _ = rig.pause(#"{"activity":"\#(activity)"}"#)
        case 6:
            var query = DeadLetterQuery(tenant: Rig.tenant)
            if Bool.random(using: &chance) { query.serial = Int64(step % 5) }
            let run = result { () throws(Refusal) in try rig.core.dryRunDeadLetters(query) }
            rig.step(.retry(query, Ticket(9)))
            return text(run)
        case 7:
            let request = try ReloadRequest(
                reading: Rig.json(#"{"devices":["\#(device)","none"]}"#), control: nil)
            let run = rig.core.dryRunReloads(request, of: Rig.tenant)
            rig.step(.reload(request, Rig.tenant, Ticket(9)))
            return text(.success(run))
        default: return try erase(activity, &rig)
        }
        return nil
    }

    private static func endMany(_ rig: inout Rig) throws -> String {
        let request = EndMany(
            tenant: Rig.tenant, type: "Runner", user: nil,
            end: End(change: .none, dismissal: .now), body: Array("{}".utf8))
        let ended = try rig.core.dryRunEnds(request, now: rig.now)
        rig.step(.endMany(request, Ticket(9)))
        return "ended \(ended.map { "\($0.activity) \($0.version)" })"
    }

    private static func erase(_ activity: String, _ rig: inout Rig) throws -> String {
        let key = ActivityKey(tenant: Rig.tenant, id: try #require(Identifier(activity)))
        let subject = ErasureSubject.activity(key, number: nil)
        let run = result { () throws(Refusal) in
            try rig.core.dryRunErasure(subject)
            return Stored(.deleted)
        }
        rig.step(.erase(subject, Ticket(9)))
        return text(run)
    }

    private static func deviceActs(
        _ step: Int, _ rig: inout Rig, _ chance: inout Chance
    ) throws -> String? {
        let device = try oneOf(["phone", "tablet"], &chance)
        let key = DeviceKey(tenant: Rig.tenant, id: try #require(Identifier(device)))
        let command = try word(step, &chance)
        let run = result { () throws(Refusal) in
            try rig.core.dryRunDeviceCommand(command, for: key, by: .operate, now: rig.now)
        }
        rig.tell(command, device)
        return text(run)
    }

    /// Something that a device may say.
    private static func word(_ step: Int, _ chance: inout Chance) throws -> DeviceCommand {
        let age = [0, 5, 60, 600].randomElement(using: &chance) ?? 0
        let at = (Rig.epoch + .seconds(Int64(step * 3 - age))).rfc3339
        let names = ["start:Runner", "activity:cat", "activity:cow", "widget"]
        let name = try #require(TokenName(try oneOf(names, &chance)))
        let token = try oneOf(["aa", "bb"], &chance)
        switch Int.random(in: 0..<10, using: &chance) {
        case 0: return .delete
        case 1: return .deleteToken(name, TokenRegistration(token: token))
        case 2:
            return .presence(
                try PresenceReport(
                    reading: Rig.json(#"{"phase":"active","at":"\#(at)"}"#)))
        case 3:
            return .report(
                try #require(ActivityReference("cat")),
                try PhoneReport(reading: Rig.json(#"{"phase":"active"}"#)))
        case 4:
            // Many of them: at times more than a device may have.
            let count = Int.random(in: 0..<4, using: &chance) * (Device.tokensMax / 3)
            let members = (0..<count).map { #""control:k\#(step)\#($0)":{"token":"cc"}"# }
            return .putTokens(
                try TokenSet(
                    reading: Rig.json(
                        #"{"tokens":{\#(members.joined(separator: ","))},"observed_at":"\#(at)"}"#)
                ))
        case 5...6:
            let app = Bool.random(using: &chance) ? "com.example.app" : "com.example.other"
            return .register(
                try DeviceRegistration(reading: Rig.json(#"{"app":"\#(app)","os":"18.0"}"#)))
        default:
            return .putToken(
                name,
                try TokenRegistration(
                    reading: Rig.json(#"{"token":"\#(token)","observed_at":"\#(at)"}"#)))
        }
    }

    @Test func `the real run does what the dry run said`() throws {
        var seen: [String: Int] = [:]
        for seed in 0..<30 {
            seen.merge(try Self.live(seed: UInt64(seed)), uniquingKeysWith: +)
        }
        for word in [
            "created", "updated", "deleted", "kept", "outdated", "ended", "unknownDevice",
            "unknownApp", "limitReached", "unknownPause", "unknownDeadLetter", "unknownActivity",
            "activityRunning",
        ] {
            #expect(seen[word, default: 0] > 0, "\(word) never came: \(seen)")
        }
    }

    @Test func `a set of tokens that is refused takes none away`() throws {
        var rig = Rig()
        rig.device()
        rig.token("widget", "aa")
        let names = (0..<Device.tokensMax).map { #""control:k\#($0)":{"token":"cc"}"# }
        // One that was registered later than the app looked stays, and there is no room.
        let old = (Rig.epoch - .seconds(60)).rfc3339
        let many = #"{"tokens":{\#(names.joined(separator: ","))},"observed_at":"\#(old)"}"#
        rig.tell(.putTokens(try TokenSet(reading: Rig.json(many))))
        #expect(rig.lastRefusal == .limitReached)
        let key = DeviceKey(tenant: Rig.tenant, id: try #require(Identifier("phone")))
        #expect(rig.core.deviceView(key, now: rig.now)?.tokens.map(\.name) == ["widget"])
    }

    @Test func `dead letters of one card are retried with one push`() throws {
        var rig = Rig.running(.lab)
        rig.verdict = { _ in .refusal(400, "BadTopic", .push) }
        rig.laps(1...3) { Double($0 * 5) }
        rig.verdict = { _ in .accepted }
        let before = rig.pushes.count
        let query = DeadLetterQuery(tenant: Rig.tenant)
        #expect(try rig.core.dryRunDeadLetters(query).count == 3)
        rig.step(.retry(query, Ticket(9)))
        let stored = try #require(rig.answers.last?.stored)
        #expect((stored.count, stored.unreachable) == (3, 0))
        rig.advance(to: 60)
        #expect(rig.line(from: before).hasSuffix(#"{"lap":3}"#))
        #expect(rig.pushes.count == before + 1)
    }
}
