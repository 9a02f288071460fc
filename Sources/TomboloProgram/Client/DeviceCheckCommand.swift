import Glibc
import TomboloCore
import TomboloJSON

/// `device check`: what a phone's app has sent to the relay and what is missing. With `--card` it
/// also starts and ends a test card.
enum DeviceCheckCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let device = context.invocation.arguments[0]
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let path = "/v1/devices/\(PathText.escaped(device))/check"
        let check = try await client.view(path, name: device)
        var isComplete = check["complete"]?.bool == true
        var card: TestCard?
        if context.invocation.isGiven(.testCard) {
            var test = TestCard(device: device, client, context)
            try await test.run()
            isComplete = isComplete && test.isWhole
            card = test
        }
        try print(check, card, context)
        return isComplete ? .succeeded : .failed
    }

    private static func print(
        _ check: JSONView, _ card: TestCard?, _ context: CommandContext
    ) throws {
        guard context.printsTable else {
            var json = check.json
            if let card {
                json = json.setting(JSONPointer(tokens: ["card"]), to: card.json) ?? json
            }
            return try context.terminal.write(line: json)
        }
        var lines: [String] = []
        for step in check.items("steps") {
            let state = step["state"]?.string ?? ""
            let name = step["step"]?.string?.replacing("_", with: " ") ?? ""
            lines.append(line(state, name, step["text"]?.string ?? ""))
            if let next = step["next"]?.string { lines.append("          next: \(next)") }
        }
        for step in card?.steps ?? [] {
            lines.append(line(step.isDone ? "done" : "lacks", "card: \(step.name)", step.text))
        }
        try context.terminal.print(lines.map(Printable.line).joined(separator: "\n"))
    }

    private static func line(_ state: String, _ name: String, _ text: String) -> String {
        let words = ["done": "ok", "lacks": "LACKS", "not_due": "-", "doubtful": "?"]
        let word = words[state] ?? state
        return word + String(repeating: " ", count: max(1, 7 - word.count)) + "\(name): \(text)"
    }
}

/// A card that is started, waits for its update token, and ends.
private struct TestCard {
    struct Step {
        var name: String
        var isDone: Bool
        var text: String
    }

    private(set) var steps: [Step] = []
    private let device: String
    private let activity: String
    private let client: RelayClient
    private let context: CommandContext

    /// The app has so long to register the card's token.
    private static let tokenTime = Duration.seconds(30)
    private static let interval = Duration.milliseconds(200)

    init(device: String, _ client: RelayClient, _ context: CommandContext) {
        (self.device, self.client, self.context) = (device, client, context)
        activity = "check-\(time(nil))-\(getpid())"
    }

    var isWhole: Bool { steps.allSatisfy(\.isDone) }

    var json: JSON {
        JSON.object { writer in
            writer.member("activity", activity)
            writer.member("complete", isWhole)
            writer.member("stopped_at", steps.last { !$0.isDone }?.name ?? "")
            writer.member("text", steps.last { !$0.isDone }?.text ?? "")
            writer.objects("steps", steps) { writer, step in
                writer.member("step", step.name)
                writer.member("done", step.isDone)
                writer.member("text", step.text)
            }
        }
    }

    private mutating func note(_ name: String, _ isDone: Bool, _ text: String) {
        steps.append(Step(name: name, isDone: isDone, text: text))
    }

    mutating func run() async throws {
        guard let type = try await type() else {
            return note(
                "start", false,
                "the device has start tokens of no type or of several: name one with --type, and a "
                    + "state that its app decodes with -s")
        }
        guard try await start(type) else { return }
        if try await waitForToken() {
            note("update token", true, "the app has registered the card's token")
        } else {
            note(
                "update token", false,
                "the app registered none within 30 s: the state may not decode, the app must observe "
                    + "activityUpdates, and somebody must tap \"Allow\"; tombolo why \(activity) \(device) tells more"
            )
        }
        try await end()
    }

    /// The type that `--type` names, else the only one of which the device has a start token.
    private func type() async throws -> String? {
        if let type = context.invocation.text(.type) { return type }
        let path = "/v1/devices/\(PathText.escaped(device))"
        let answer = try await client.answer(RelayRequest("GET", path))
        let names = try answer.document().root.items("tokens").compactMap { $0["name"]?.string }
        let types = names.filter { $0.hasPrefix("start:") }.map { String($0.dropFirst(6)) }
        return types.count == 1 ? types[0] : nil
    }

    private var path: String { "/v1/activities/\(PathText.escaped(activity))" }

    private mutating func start(_ type: String) async throws -> Bool {
        let state = try StateInput.read(context, readsInput: false) ?? .emptyObject
        let body = JSON.object { writer in
            writer.member("type", type)
            writer.object("audience") { $0.member("device", device) }
            writer.member("state", state)
            // The card ends by itself if this command is interrupted.
            writer.member("end_after", "2m")
            writer.object("alert") { $0.member("title", "A test card") }
        }.bytes
        let answer = try await client.answer(
            RelayRequest("PUT", path, fields: [("prefer", "wait=10")], body: body))
        let root = try answer.document().root
        guard answer.status == 201 else {
            let refusal = RelayProblem(status: answer.status, body: answer.body).error(name: nil)
            // A key without the scope tells nothing about the phone.
            guard ![401, 403].contains(answer.status) else { throw refusal }
            note("start", false, refusal.cause)
            return false
        }
        let delivery = root["deliveries"]?.elements.first { _ in true }
        guard delivery?["result"]?.string == "accepted" else {
            let reason = delivery?["reason"]?.string ?? root["decision"]?["reason"]?.string
            note(
                "start", false,
                (reason.map { "the start waits (\($0)); " }
                    ?? "Apple has not taken the start within 10 s; ")
                    + "tombolo why \(activity) \(device) tells more")
            try await end()
            return false
        }
        note("start", true, "Apple took the start of \(activity)")
        return true
    }

    private func waitForToken() async throws -> Bool {
        try await context.loop.poll(every: Self.interval, within: Self.tokenTime) {
            let cards = try await client.view(path, name: activity).items("destinations")
            let isLive = cards.contains { ["live", "listening"].contains($0["phase"]?.string) }
            return isLive ? true : nil
        } ?? false
    }

    private mutating func end() async throws {
        let body = Array(#"{"dismiss":"now"}"#.utf8)
        let answer = try await client.answer(
            RelayRequest("POST", path + "/end", fields: [("prefer", "wait=10")], body: body))
        guard steps.allSatisfy(\.isDone) else { return }
        let delivery = try answer.document().root["deliveries"]?.elements.first { _ in true }
        let isTaken = delivery?["result"]?.string == "accepted"
        note(
            "end", isTaken,
            isTaken ? "Apple took the end" : "Apple has not taken the end within 10 s")
    }
}
