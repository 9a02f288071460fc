import TomboloCore
import TomboloJSON
import TomboloProgram

/// A core with many destinations. Its disk and Apple answer at once, so it measures the cost of
/// pacing alone. Each device has four activities, and each activity has a hundred devices.
struct PacerWorld: ~Copyable {
    static let devicesPerActivity = 100
    static let activitiesPerDevice = 4

    private var core: Core
    private(set) var now = Instant(seconds: 1_700_000_000)
    private let tenant: TenantID
    private var activities = 0
    private var ticket: UInt64 = 0
    private var seq: Int64 = 0
    private var factSeq: Int64 = 0
    private(set) var pushes = 0
    /// True while the destinations are being made: then many changes share one batch.
    private var gathers = true

    /// Makes destinations of class `standard`, all idle and with an update token.
    init(destinations: Int) throws {
        tenant = .main
        core = Core(
            configuration: CoreConfiguration(apps: [
                CoreConfiguration.App(
                    tenant: tenant, id: "com.example.app", environment: .sandbox, allowsLab: true)
            ]), seed: 1)
        step(.capacity(UpstreamNumber(0), .max))
        let count = max(1, destinations / Self.devicesPerActivity)
        for index in 0..<count {
            try add(index)
            // As in a relay, changes that come while a batch is being written form the next batch.
            if index % Self.activitiesPerDevice == Self.activitiesPerDevice - 1 { commit() }
        }
        gathers = false
        commit()
        activities = count
        // Let the budgets refill.
        advance(by: .hours(2))
        pushes = 0
    }

    private mutating func add(_ index: Int) throws {
        let block = index / Self.activitiesPerDevice * Self.devicesPerActivity
        let devices = (0..<Self.devicesPerActivity).map { "d\(block + $0)" }
        for device in devices {
            guard let id = Identifier(device) else { continue }
            let key = DeviceKey(tenant: tenant, id: id)
            if index % Self.activitiesPerDevice == 0 {
                let registration = try DeviceRegistration(reading: JSON.emptyObject.document.root)
                step(.device(key, .register(registration), nextTicket()))
            }
            guard let name = TokenName("activity:a\(index)") else { continue }
            let token = try TokenRegistration(
                reading: JSONDocument(
                    Array("{\"token\":\"\(Self.token(ticket))\"}".utf8)
                ).root)
            step(.device(key, .putToken(name, token), nextTicket()))
        }
        let audience = devices.map { "\"\($0)\"" }.joined(separator: ",")
        try command(
            .start, index,
            "{\"type\":\"Any\",\"audience\":{\"devices\":[\(audience)]},\"state\":"
                + "\(Self.state(0))}")
    }

    /// A token of 64 hex digits.
    private static func token(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "a", count: 64 - digits.count) + digits
    }

    /// A state of about 200 bytes.
    private static func state(_ lap: Int) -> String {
        "{\"lap\":\(lap),\"note\":\"\(String(repeating: "on the way ", count: 17))\"}"
    }

    /// Changes every activity, so that each of its destinations decides.
    mutating func changeAll(_ lap: Int) throws {
        for index in 0..<activities {
            try command(.update, index, "{\"state\":\(Self.state(lap))}")
        }
    }

    /// Advances the time. Returns the number of wake-ups.
    @discardableResult
    mutating func advance(by span: Span) -> Int {
        let end = now + span
        var wakes = 0
        while let wake = core.nextWake, wake <= end {
            now = max(now, wake)
            step(.tick)
            wakes += 1
        }
        now = end
        return wakes
    }

    private mutating func command(_ kind: EventKind, _ index: Int, _ body: String) throws {
        guard let id = Identifier("a\(index)") else { return }
        let document = try JSONDocument(Array(body.utf8))
        let command = Command(
            activity: ActivityKey(tenant: tenant, id: id),
            content: try Command.Content(kind: kind, document.root), body: document.bytes)
        step(.command(command, nextTicket()))
    }

    private mutating func nextTicket() -> Ticket {
        ticket += 1
        return Ticket(ticket)
    }

    private mutating func step(_ input: Input) {
        take(input)
        if !gathers { commit() }
    }

    private mutating func commit() {
        while let batch = core.takeBatch(now: now) {
            let (first, firstFact) = (seq + 1, factSeq + 1)
            seq += Int64(batch.events.count)
            factSeq += Int64(batch.facts.count)
            take(.committed(AppendReceipt(firstSeq: first, firstFactSeq: firstFact, of: batch)))
        }
    }

    private mutating func take(_ input: Input) {
        var effects = Effects()
        core.step(input, now: now, effects: &effects)
        for push in effects.pushes {
            pushes += 1
            take(.pushEnded(PushOutcome(push: push.id, result: .accepted, took: .zero)))
        }
    }
}
