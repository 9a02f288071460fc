import Glibc
import TomboloCore
import TomboloJSON
import TomboloLoop

/// A trial of one phone: starts cards on it, and reads from the app's reports what arrived.
///
/// On a simulated phone it also does what the person with the phone does. It leaves no card, widget
/// or timeline behind.
struct DeviceTrial {
    /// How a step went.
    struct Row {
        enum Verdict: String { case yes, no, notTried = "not tried" }
        var step: TrialStep
        var verdict: Verdict
        var seconds: Double
        /// A sentence about what was seen.
        var text: String
    }

    /// Why a step is not as expected.
    private struct Miss: Error {
        var text: String
        var wasTried = true
    }

    private(set) var rows: [Row] = []
    let device: String
    /// True if the relay knows the phone as a simulated one.
    let isSimulated: Bool
    private let client: RelayClient
    private let context: CommandContext
    private let within: Duration
    private let type: String
    private let state: JSON
    private let name: String
    /// Of the card that is on the phone now; nil if there is none.
    private var card: String?
    /// True if the card has an update token.
    private var isLive = false
    /// True once the app has registered the update token of any card.
    private var registersTokens = false
    private var cardCount = 0
    private var change = 0

    private static let interval = Duration.milliseconds(100)
    private static let noCard = "there is no card with an update token: an earlier step failed"
    private static let widgetKind = "device-trial"

    init(device: String, _ client: RelayClient, _ context: CommandContext) async throws {
        (self.device, self.client, self.context) = (device, client, context)
        within = .nanoseconds(
            (context.invocation.duration(.trialWithin) ?? .minutes(2)).nanoseconds)
        let phone = try await client.answer(
            RelayRequest("GET", "/v1/phones/\(PathText.escaped(device))"))
        isSimulated = phone.status == 200
        var given = try StateInput.read(context, readsInput: false)
        if given == nil, isSimulated { given = try StateInput.object([("step", "Trial")]) }
        guard let type = context.invocation.text(.type) ?? (isSimulated ? "OrderAttributes" : nil),
            let state = given, let member = state.document.root.members.first(where: { _ in true }),
            [.string, .number].contains(member.value.kind)
        else {
            throw ProgramError.usage(
                "a trial needs the card's type, and a state whose first member is a text or a "
                    + "number: each update changes it",
                remedy: "tombolo device trial \(device) --type OrderAttributes -s step=Baking")
        }
        (self.type, self.state) = (type, state)
        name = "trial-\(time(nil))-\(getpid())"
    }

    private func refusal(_ answer: RelayAnswer) -> String {
        RelayProblem(status: answer.status, body: answer.body).error(name: nil).cause
    }

    /// Carries out one step, and adds its row.
    mutating func carryOut(_ step: TrialStep) async throws {
        let start = context.loop.now
        var row = Row(step: step, verdict: .yes, seconds: 0, text: "")
        do {
            row.text = try await result(of: step)
        } catch let miss as Miss {
            row.verdict = miss.wasTried ? .no : .notTried
            row.text = miss.text
        }
        row.seconds = Double((context.loop.now - start).nanoseconds / 1_000_000) / 1_000
        rows.append(row)
    }

    private mutating func result(of step: TrialStep) async throws -> String {
        switch step {
        case .startToken: return try await startToken()
        case .start: return try await begin(audience: "device", device)
        case .allow: return try await awaitToken()
        case .update: return try await changeState { _ in }
        case .alert: return try await changeState { Self.writeAlert(&$0) }
        case .locked: return try await whileLocked()
        case .ten: return try await tenInARow()
        case .widget: return try await reloadWidget()
        case .swipe: return try await swipe()
        case .relaunch: return try await relaunch()
        case .signOut: return try await signOut()
        case .end: return try await end()
        }
    }

    /// Ends the card that a failed step has left.
    mutating func cleanUp() async throws {
        guard let card else { return }
        _ = try await client.answer(endRequest(card))
        self.card = nil
    }

    // MARK: - Steps

    /// A card of a later step. Without update tokens none of these steps can pass.
    private mutating func beginAnother(audience: String, _ whom: String) async throws {
        guard registersTokens else { throw Miss(text: Self.noCard, wasTried: false) }
        _ = try await begin(audience: audience, whom)
        _ = try await awaitToken()
    }

    private func startToken() async throws -> String {
        try await act(#"{"do":"front"}"#)
        try await act(#"{"do":"back"}"#)
        let token = try await seen("the app registered no start token of \(type)") {
            try await view(devicePath)["tokens"]?.elements.first {
                $0["name"]?.string == "start:\(type)"
            }
        }
        return "registered at \(token["registered_at"]?.string ?? "")"
    }

    private mutating func begin(audience: String, _ whom: String) async throws -> String {
        cardCount += 1
        let card = "\(name)-\(cardCount)"
        let body = Self.body { writer in
            writer.member("type", type)
            writer.name("audience")
            writer.beginObject()
            writer.member(audience, whom)
            writer.endObject()
            writer.member("state", state)
            // The card ends by itself if this command is interrupted.
            writer.member("end_after", "30m")
            Self.writeAlert(&writer)
        }
        let answer = try await client.answer(RelayRequest("PUT", path(card), body: body))
        guard answer.status == 201 else {
            throw Miss(text: refusal(answer))
        }
        (self.card, isLive) = (card, false)
        _ = try await seen("Apple has not taken the start of \(card)") {
            let view = try await destination(of: card)
            return view?["result"]?.string == "accepted" ? view : nil
        }
        return "Apple took the start of \(card)"
    }

    private mutating func awaitToken() async throws -> String {
        guard let card else { throw Miss(text: Self.noCard, wasTried: false) }
        if isSimulated { try await allow() }
        _ = try await seen("the app registered no update token of \(card)") {
            let view = try await destination(of: card)
            return ["live", "listening"].contains(view?["phase"]?.string) ? view : nil
        }
        (isLive, registersTokens) = (true, true)
        return "the card has an update token"
    }

    /// The simulated user's "Allow", if the phone asks.
    private func allow() async throws {
        _ = try await client.answer(phoneRequest(#"{"do":"allow"}"#))
    }

    private mutating func changeState(
        _ more: (inout JSONWriter) -> Void
    ) async throws -> String {
        let version = try await post(more)
        return try await awaitVersion(version)
    }

    private mutating func whileLocked() async throws -> String {
        _ = try runningCard()
        try await act(#"{"do":"lock"}"#)
        do {
            let version = try await post { $0.member("urgency", "low") }
            if isSimulated { try await context.loop.sleep(for: .seconds(1)) }
            try await act(#"{"do":"unlock"}"#)
            return try await awaitVersion(version)
        } catch {
            try await act(#"{"do":"unlock"}"#)
            throw error
        }
    }

    private mutating func tenInARow() async throws -> String {
        let card = try runningCard()
        let before = try await destination(of: card)?["shown"]?["count"]?.integer ?? 0
        var version: Int64 = 0
        for _ in 0..<10 {
            version = try await post { _ in }
            try await context.loop.sleep(for: .milliseconds(500))
        }
        let text = try await awaitVersion(version)
        let after = try await destination(of: card)?["shown"]?["count"]?.integer ?? 0
        return "\(text); of ten states the phone took \(after - before)"
    }

    private func reloadWidget() async throws -> String {
        let given = context.invocation.text(.trialWidget)
        guard given != nil || isSimulated else {
            throw Miss(text: "no widget is named: --widget KIND", wasTried: false)
        }
        let kind = given ?? Self.widgetKind
        if given == nil { try await addWidget() }
        let path = "/v1/timelines/\(PathText.escaped(kind))"
        let device = PathText.escaped(self.device)
        let before = try await fetched(path, device)
        try await context.loop.sleep(for: .seconds(1))
        let body = Self.body { $0.member("device", self.device) }
        let answer = try await client.answer(RelayRequest("POST", path + "/reload", body: body))
        guard (200..<300).contains(answer.status) else {
            throw Miss(text: refusal(answer))
        }
        let fetch = try await seen("the widget \(kind) has not fetched after the reload") {
            let now = try await fetched(path, device)
            return now == before ? nil : now
        }
        if given == nil { try await removeWidget() }
        return "the widget fetched at \(fetch)"
    }

    /// When the widget fetched for the last time; nil if it has not.
    private func fetched(_ path: String, _ device: String) async throws -> String? {
        try await view("\(path)/explain?device=\(device)")["because"]?.elements.first {
            $0["code"]?.string == "fetched"
        }?["at"]?.string
    }

    private mutating func swipe() async throws -> String {
        let card = try runningCard()
        try await act(Self.deed("swipe", card))
        try await act(#"{"do":"front"}"#)
        try await act(#"{"do":"back"}"#)
        _ = try await seen("the app did not report that the card is gone") {
            let view = try await destination(of: card)
            return view?["shown"]?["phase"]?.string == "dismissed" ? view : nil
        }
        try await cleanUp()
        return "the app reported the swipe"
    }

    private mutating func relaunch() async throws -> String {
        try await beginAnother(audience: "device", device)
        try await act(#"{"do":"terminate"}"#)
        let version = try await post { _ in }
        if isSimulated { try await context.loop.sleep(for: .seconds(1)) }
        try await act(#"{"do":"launch"}"#)
        try await act(#"{"do":"front"}"#)
        try await act(#"{"do":"back"}"#)
        let text = try await awaitVersion(version)
        try await cleanUp()
        return text
    }

    private mutating func signOut() async throws -> String {
        let former = try await view(devicePath)["user"]?.string
        guard let user = isSimulated ? "\(name)-user" : former else {
            throw Miss(text: "the device has no user", wasTried: false)
        }
        if isSimulated { try await setUser(user) }
        let outcome: Result<String, any Error>
        do {
            outcome = .success(try await endOfUser(user))
        } catch {
            outcome = .failure(error)
        }
        if isSimulated { try await setUser(former) }
        return try outcome.get()
    }

    private mutating func endOfUser(_ user: String) async throws -> String {
        try await beginAnother(audience: "user", user)
        let card = try runningCard()
        // The backend's part of a sign-out. The simulated app has no sign-out of its own.
        if isSimulated { try await setUser(nil) }
        _ = try await seen("the card of the former user is still there") {
            let view = try await destination(of: card)
            let phase = view?["shown"]?["phase"]?.string
            return view == nil || phase == "ended" || phase == "dismissed" ? true : nil
        }
        try await cleanUp()
        return "the card of the former user ended"
    }

    private mutating func end() async throws -> String {
        try await beginAnother(audience: "device", device)
        let card = try runningCard()
        try await cleanUp()
        let phase = try await seen("the app did not report the end") {
            let phase = try await destination(of: card)?["shown"]?["phase"]?.string
            return phase == "ended" || phase == "dismissed" ? phase : nil
        }
        return "the app reported \(phase)"
    }

    // MARK: - The relay

    private var devicePath: String { "/v1/devices/\(PathText.escaped(device))" }

    private func path(_ card: String) -> String { "/v1/activities/\(PathText.escaped(card))" }

    private func view(_ path: String) async throws -> JSONView {
        try await client.send(RelayRequest("GET", path), name: device).document().root
    }

    /// The device's part of the activity; nil if the activity is no longer for it.
    private func destination(of card: String) async throws -> JSONView? {
        try await view(path(card))["destinations"]?.elements.first {
            $0["device"]?.string == device
        }
    }

    private func runningCard() throws -> String {
        guard let card, isLive else { throw Miss(text: Self.noCard, wasTried: false) }
        return card
    }

    /// Changes the state's first member, and returns the event's version.
    private mutating func post(_ more: (inout JSONWriter) -> Void) async throws -> Int64 {
        let card = try runningCard()
        change += 1
        let patch = Self.body { writer in
            writer.member("state", changedState)
            more(&writer)
        }
        let answer = try await client.answer(
            RelayRequest("PATCH", path(card), body: patch))
        guard (200..<300).contains(answer.status),
            let version = try answer.document().root["version"]?.integer
        else { throw Miss(text: refusal(answer)) }
        return version
    }

    private var changedState: JSON {
        guard let member = state.document.root.members.first(where: { _ in true }) else {
            return state
        }
        let value =
            member.value.string.map { StateInput.string("\($0) \(change)") }
            ?? StateInput.value("\((member.value.integer ?? 0) + Int64(change))")
        return state.setting(JSONPointer(tokens: [member.name]), to: value) ?? state
    }

    /// Waits until the app has reported this version's state or a later one.
    private func awaitVersion(_ version: Int64) async throws -> String {
        let card = try runningCard()
        let view = try await seen("the app did not report version \(version) of \(card)") {
            let view = try await destination(of: card)
            return view?["shown"]?["received_version"]?.integer ?? 0 >= version ? view : nil
        }
        return "the phone had it at \(view["shown"]?["last_at"]?.string ?? "")"
    }

    private func endRequest(_ card: String) -> RelayRequest {
        RelayRequest(
            "POST", path(card) + "/end", fields: [("prefer", "wait=10")],
            body: Array(#"{"dismiss":"now"}"#.utf8))
    }

    private func setUser(_ user: String?) async throws {
        let body = Self.body { writer in
            if let user { writer.member("user", user) } else { writer.member("user", .null) }
        }
        _ = try await client.send(RelayRequest("PUT", devicePath, body: body), name: device)
    }

    // MARK: - The simulated phone

    private func phoneRequest(_ deed: String) -> RelayRequest {
        RelayRequest("POST", "/v1/phones/\(PathText.escaped(device))", body: Array(deed.utf8))
    }

    /// Does what the person with a simulated phone does. On a real one the person does it.
    private func act(_ deed: String) async throws {
        guard isSimulated else { return }
        _ = try await client.send(phoneRequest(deed), name: device)
    }

    private func addWidget() async throws {
        let body = Self.body { writer in
            writer.name("subject")
            writer.beginObject()
            writer.member("device", device)
            writer.endObject()
            writer.member("content", JSON.emptyObject)
        }
        _ = try await client.send(
            RelayRequest("PUT", "/v1/timelines/\(Self.widgetKind)", body: body), name: nil)
        try await act(#"{"do":"widget-add","widget":"device-trial","family":"systemSmall"}"#)
    }

    private func removeWidget() async throws {
        try await act(#"{"do":"widget-rm","widget":"device-trial"}"#)
        _ = try await client.answer(
            RelayRequest(
                "DELETE",
                "/v1/timelines/\(Self.widgetKind)?device=\(PathText.escaped(device))"))
    }

    // MARK: - Waiting and writing

    /// Reads until there is a value. Throws a miss after the time of a step.
    private func seen<Value>(
        _ miss: String, _ read: () async throws -> Value?
    ) async throws -> Value {
        let start = context.loop.now
        while true {
            if let value = try await read() { return value }
            guard context.loop.now - start < within else { throw Miss(text: miss) }
            try await context.loop.sleep(for: Self.interval)
        }
    }

    private static func body(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        write(&writer)
        writer.endObject()
        return writer.bytes
    }

    private static func deed(_ name: String, _ card: String) -> String {
        #"{"do":"\#(name)","activity":"\#(card)"}"#
    }

    private static func writeAlert(_ writer: inout JSONWriter) {
        writer.name("alert")
        writer.beginObject()
        writer.member("title", "A trial")
        writer.endObject()
    }
}
