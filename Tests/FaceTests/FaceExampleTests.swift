import Testing
import TomboloAPI
import TomboloAPNs
import TomboloContract
import TomboloCore
import TomboloCrypto
import TomboloEventLog
import TomboloHTTP
import TomboloJSON
import TomboloLog
import TomboloLoop
import TomboloPostgres
import TomboloRelay
import TomboloSQLite
import TomboloServer

// What the faces of the rooms show is compiled here, line by line as it is there; `RepositoryTests`
// compare both. What needs nothing else runs, too.

@Suite struct FaceExampleTests {
    @Test func `the example of TomboloJSON`() throws {
        let document = try JSONDocument(Array(#"{"lap":3}"#.utf8))
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("lap", (document.root["lap"]?.integer ?? 0) + 1)
        writer.endObject()  // writer.bytes is {"lap":4}
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"lap":4}"#)
    }

    @Test func `the example of a value in two spellings`() throws {
        let one = try JSON(validating: Array(#"{"a":1.0,"b":"\u00fc"}"#.utf8))
        let other = try JSON(validating: Array(#"{"b":"ü","a":1}"#.utf8))
        let isSame = one.isSameValue(as: other)  // true, and one == other is false
        #expect(isSame && one != other)
    }

    @Test func `the example of TomboloAPI`() {
        let problem = Problem(.invalidQuery, "limit is 0; it is 1 to 1000").adding("limit", 0)
        let status = problem.status  // 400
        #expect(status == 400)
    }

    @Test func `the example of TomboloContract`() {
        let facts = DeviceFacts(
            app: "com.example.app", environment: "sandbox", os: "26.1", frequentUpdates: true)
        let now = Duration.zero
        let saved: [UInt8] = []
        var sent: [String] = []
        func put(_ path: String, _ body: [UInt8]) -> Int {
            sent.append(path)
            return 204
        }
        func save(_ kept: [UInt8]) {}
        var contract = AppContract(device: "phone-1", facts: facts, kept: saved)
        let actions = contract.handle(.launched, at: now, time: "2026-11-20T09:03:00Z")
        while let upload = contract.queue.next(at: now) {
            let status = put(upload.path, upload.body)
            _ = contract.answered(upload, .answered(status: status), at: now)
        }
        save(contract.kept)
        #expect(actions == [.readStartTokens, .readActivities])
        #expect(sent == ["/devices/phone-1"])
    }

    @Test func `the example of TomboloLoop`() throws {
        let answer = try EpollLoop.run { loop in
            try await loop.sleep(for: .milliseconds(1))
            return 42  // on the loop's thread, as all that it runs
        }
        #expect(answer == 42)
    }

    @Test func `the example of TomboloCrypto`() {
        let message = Array("a message".utf8)
        let key = P256PrivateKey.generate()
        let signature = key.signature(over: message)
        let isValid = key.publicKey.verifies(signature, over: message)  // true
        #expect(isValid)
    }
}

private func exampleOfTheCore(
    _ configuration: CoreConfiguration, _ command: Command, now: Instant,
    append: (AppendBatch) -> AppendReceipt
) {
    var core = Core(configuration: configuration, seed: 7)
    var effects = Effects()
    core.step(.command(command, Ticket(1)), now: now, effects: &effects)
    if let batch = core.takeBatch(now: now) {
        let receipt = append(batch)  // the log's
        core.step(.committed(receipt), now: now, effects: &effects)
    }
}

private func exampleOfTheLog(_ log: any EventLog, _ event: NewEvent) async throws {
    var batch = AppendBatch()
    batch.events = [event]
    let receipt = try await log.append(batch)  // durable from here on
    let events = try await log.history(after: receipt.firstSeq - 1, limit: 100)
    _ = events
}

private func exampleOfTheLogOnAnEngine(
    _ engine: any LogWriting, _ readingEngine: any LogReading, _ lookup: LogReader,
    _ damage: DamageList, _ room: any LogRoom, _ chance: inout some RandomNumberGenerator
) async throws {
    let writer = try LogWriter(engine, isNew: true, chance: &chance)
    let reader = try LogReader(readingEngine, window: writer.window, damage: damage)
    let log = try EngineEventLog(
        writer, reading: reader, looking: lookup, damage: damage, lastRun: nil, room: room,
        closed: {})
    _ = try await log.recover(idempotencySince: .distantPast)  // before the first append
}

private func exampleOfTheLogOnDisk(
    _ directory: String, _ batch: AppendBatch, _ chance: inout some RandomNumberGenerator
) async throws {
    let log = try SQLiteEventLog(directory: directory, chance: &chance)
    let found = try await log.recover(idempotencySince: .distantPast)  // before the first append
    _ = try await log.append(batch)
    await log.close()
    _ = found
}

private func exampleOfALogInADatabase(
    _ chance: inout some RandomNumberGenerator, pepper: [UInt8], clock: @escaping PostgresClock
) throws {
    var database = PostgresDatabase()
    database.words = ["host": "db.example.com", "dbname": "relay", "user": "tombolo"]
    database.passwordFile = "/etc/tombolo/database.password"
    let opened = try PostgresEventLog.open(
        database, pepper: pepper, retention: .forever, caution: LogCaution(), clock: clock,
        chance: &chance)
    _ = (opened.log, opened.figures)
}

private func exampleOfARelayThatWaits(
    _ database: PostgresDatabase, chance: some RandomNumberGenerator & Sendable, pepper: [UInt8],
    clock: @escaping PostgresClock, reading: @escaping @Sendable () -> PostgresReading
) async throws {
    var chance = chance
    let standby = try PostgresStandby(
        database, pepper: pepper, clock: clock, reading: reading, chance: chance.next())
    let taken = try await standby.taken()
    let opened = try await standby.openLog(
        taken, retention: .forever, caution: LogCaution(), chance: chance)
    _ = opened
}

private func exampleOfTheRelay(
    _ loop: EpollLoop, _ log: any EventLog, _ sender: any PushSender,
    _ configuration: CoreConfiguration, _ wallClock: any WallClock, seed: UInt64,
    _ command: Command
) async throws {
    let relay = Relay(
        loop: loop, log: log, sender: sender, configuration: configuration,
        wallClock: wallClock, seed: seed)
    for line in try await relay.recover() { print(line) }  // what was set aside
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask(executorPreference: loop) { try await relay.run() }
        let answer = await relay.submit(command)  // .accepted: durable
        print(answer)
        await relay.finish()
        try await group.waitForAll()
    }
}

private func exampleOfHTTP(_ loop: EpollLoop) async throws {
    struct Hello: HTTPHandler {
        func handle(_ exchange: HTTPExchange) async {
            exchange.respond(200, ["content-type": "text/plain"], Array("hello\n".utf8))
        }
    }
    let server = try HTTPServer(
        loop: loop, listen: ListenAddress(host: "127.0.0.1", port: 8080), handler: Hello())
    try await server.run()
}

private func exampleOfThePushClient(
    _ configuration: APNsConfiguration, _ key: ProviderKey, _ loop: EpollLoop,
    _ chance: any RandomNumberGenerator & Sendable, _ receiver: any PushOutcomeReceiver,
    _ push: Push
) async throws {
    let client = try APNsClient(
        configuration, key: key, loop: loop, chance: chance, receiver: receiver)
    client.send(push)  // the receiver gets its outcome once
    try await client.run()
}

private func exampleOfTheDoors(
    _ relay: Relay, _ access: AccessControl, _ loop: EpollLoop, _ address: ListenAddress
) async throws {
    let doors = ServerDoors(
        relay: relay, access: access, loop: loop,
        configuration: DoorsConfiguration(version: "1.0.0"))
    let server = try HTTPServer(loop: loop, listen: address, handler: doors)
    try await server.run()
}
