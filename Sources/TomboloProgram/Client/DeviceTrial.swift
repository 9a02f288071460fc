import Glibc
import TomboloCore
import TomboloJSON
import TomboloLoop

/// A trial of one phone: starts cards on it, and reads from the app's reports what arrived.
///
/// On a simulated phone it also does what the person with the phone does. It leaves no card, widget
/// or timeline behind, also after one Ctrl-C; a card that waits for "Allow" goes when it is tapped.
/// A second Ctrl-C ends it at once: the card ends by itself after 30 minutes, and what the step has
/// changed on a simulated phone stays.
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
    struct Miss: Error {
        var text: String
        var wasTried = true
    }

    private(set) var rows: [Row] = []
    let device: String
    /// True if the relay knows the phone as a simulated one.
    let isSimulated: Bool
    let client: RelayClient
    let context: CommandContext
    let stop: StopFlag
    let within: Duration
    private let type: String
    let state: JSON
    private let name: String
    /// Of the card that is on the phone now; nil if there is none.
    private(set) var card: String?
    /// True if the card has an update token.
    private(set) var isLive = false
    /// True once the app has registered the update token of any card.
    private var registersTokens = false
    private var cardCount = 0
    var change = 0

    /// Why the device has no cards; nil if it can have some.
    private let lacksCards: String?
    /// True if the app has registered a token for widgets.
    private let hasWidgets: Bool

    static let interval = Duration.milliseconds(100)
    /// A person has so long to begin what is asked.
    static let personTime = Duration.seconds(15)
    static let noCard = "there is no card with an update token: an earlier step failed"
    static let widgetKind = "device-trial"

    /// - Parameters:
    ///   - view: the relay's view of the device.
    ///   - stop: if it is set, the current step throws `CancellationError`.
    init(
        device: String, _ view: JSONView, _ client: RelayClient, _ context: CommandContext,
        stop: StopFlag
    ) async throws {
        (self.device, self.client, self.context, self.stop) = (device, client, context, stop)
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
        let tokens = view["tokens"]?.elements.compactMap { $0["name"]?.string } ?? []
        let ofSurfaces = tokens.filter { $0 == "widget" || $0.hasPrefix("control:") }
        hasWidgets = tokens.contains("widget")
        lacksCards =
            if !tokens.isEmpty, ofSurfaces.count == tokens.count {
                "the app has registered widgets or controls only"
            } else {
                nil
            }
        name = "trial-\(time(nil))-\(getpid())"
    }

    func refusal(_ answer: RelayAnswer) -> String {
        RelayProblem(status: answer.status, body: answer.body).error(name: nil).cause
    }

    /// Carries out one step, and adds its row.
    mutating func carryOut(_ step: TrialStep) async throws {
        try stop.throwIfSet()
        let start = context.loop.now
        var row = Row(step: step, verdict: .yes, seconds: 0, text: "")
        do {
            row.text = try await result(of: step)
        } catch let miss as Miss {
            row.verdict = miss.wasTried ? .no : .notTried
            row.text = miss.text
        } catch let error as ProgramError {
            // The steps before it are still worth a report.
            (row.verdict, row.text) = (.no, error.cause)
        }
        row.seconds = Double((context.loop.now - start).nanoseconds / 1_000_000) / 1_000
        rows.append(row)
    }

    private mutating func result(of step: TrialStep) async throws -> String {
        if let lacksCards, step != .widget { throw Miss(text: lacksCards, wasTried: false) }
        switch step {
        case .startToken: return try await startToken()
        case .start: return try await startCard(audience: "device", device)
        case .allow: return try await awaitToken()
        case .update: return try await changeState { _ in }
        case .alert: return try await changeState { Self.writeAlert(&$0) }
        case .locked: return try await whileLocked()
        case .ten: return try await tenInARow()
        case .widget: return try await reloadWidget()
        case .swipe: return try await swipe()
        case .relaunch: return try await relaunch()
        case .signOut: return try await signOut()
        case .end: return try await endCard()
        }
    }

    /// Ends the card that a failed step has left.
    mutating func cleanUp() async throws {
        guard let card else { return }
        // A card without an update token cannot be ended.
        if isSimulated { try await allow() }
        _ = try await client.answer(endRequest(card))
        self.card = nil
    }

    // MARK: - Steps

    /// A card of a later step. Without update tokens these steps cannot pass.
    private mutating func startAnotherCard(audience: String, _ whom: String) async throws {
        guard registersTokens else { throw Miss(text: Self.noCard, wasTried: false) }
        try await cleanUp()
        _ = try await startCard(audience: audience, whom)
        _ = try await awaitToken()
    }

    private func startToken() async throws -> String {
        try await instruct(.startToken)
        try await act(#"{"do":"front"}"#)
        try await act(#"{"do":"back"}"#)
        let token = try await seen("the app registered no start token of \(type)") {
            try await view(devicePath)["tokens"]?.elements.first {
                $0["name"]?.string == "start:\(type)"
            }
        }
        return "registered at \(token["registered_at"]?.string ?? "")"
    }

    private mutating func startCard(audience: String, _ whom: String) async throws -> String {
        cardCount += 1
        let card = "\(name)-\(cardCount)"
        let body = JSON.object { writer in
            writer.member("type", type)
            writer.object("audience") { $0.member(audience, whom) }
            writer.member("state", state)
            // The card ends by itself if this command is killed.
            writer.member("end_after", "30m")
            Self.writeAlert(&writer)
        }
        let answer = try await client.answer(RelayRequest("PUT", cardPath(card), body: body.bytes))
        guard answer.status == 201 else { throw Miss(text: refusal(answer)) }
        (self.card, isLive) = (card, false)
        _ = try await seen("Apple has not taken the start of \(card)") {
            let view = try await destination(of: card)
            return view?["result"]?.string == "accepted" ? view : nil
        }
        return "Apple took the start of \(card)"
    }

    private mutating func awaitToken() async throws -> String {
        guard let card else { throw Miss(text: Self.noCard, wasTried: false) }
        if !registersTokens { try await instruct(.allow) }
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
        try await instruct(.locked)
        try await act(#"{"do":"lock"}"#)
        do {
            let version = try await post { $0.member("urgency", "low") }
            if isSimulated { try await context.loop.sleep(for: .seconds(1)) }
            try await act(#"{"do":"unlock"}"#)
            let text = try await awaitVersion(version)
            return isSimulated ? text : "\(text); no app reports whether the phone was locked"
        } catch {
            try await act(#"{"do":"unlock"}"#)
            throw error
        }
    }

    private mutating func tenInARow() async throws -> String {
        let card = try runningCard()
        let before = try await destination(of: card)?["shown"]?["count"]?.integer
        var version: Int64 = 0
        for _ in 0..<10 {
            try stop.throwIfSet()
            version = try await post { _ in }
            try await context.loop.sleep(for: .milliseconds(500))
        }
        let text = try await awaitVersion(version)
        // Not each app counts what it shows.
        guard let before, let after = try await destination(of: card)?["shown"]?["count"]?.integer
        else { return text }
        return "\(text); of ten states the phone took \(after - before)"
    }

    private func reloadWidget() async throws -> String {
        if let kind = context.invocation.text(.trialWidget) { return try await reloadAndWait(kind) }
        guard isSimulated else {
            throw Miss(
                text: hasWidgets
                    ? "no widget is named: --widget KIND"
                    : "the app has registered no token for widgets", wasTried: false)
        }
        let outcome: Result<String, any Error>
        do {
            try await addWidget()
            outcome = .success(try await reloadAndWait(Self.widgetKind))
        } catch {
            outcome = .failure(error)
        }
        try await removeWidget()
        return try outcome.get()
    }

    private func reloadAndWait(_ kind: String) async throws -> String {
        let path = "/v1/timelines/\(PathText.escaped(kind))"
        let device = PathText.escaped(self.device)
        let before = try await seen("the widget \(kind) has never fetched") {
            try await fetched(path, device)
        }
        try await context.loop.sleep(for: .seconds(1))
        let body = JSON.object { $0.member("device", self.device) }
        let answer = try await client.answer(
            RelayRequest("POST", path + "/reload", body: body.bytes))
        guard (200..<300).contains(answer.status) else { throw Miss(text: refusal(answer)) }
        let fetch = try await seen("the widget \(kind) has not fetched after the reload") {
            let now = try await fetched(path, device)
            return now == before ? nil : now
        }
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
        try await instruct(.swipe)
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
        try await startAnotherCard(audience: "device", device)
        try await instruct(.relaunch)
        try await act(#"{"do":"terminate"}"#)
        let version: Int64
        do {
            version = try await post { _ in }
            if isSimulated { try await context.loop.sleep(for: .seconds(1)) }
        } catch {
            try await act(#"{"do":"launch"}"#)
            throw error
        }
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
        try await startAnotherCard(audience: "user", user)
        let card = try runningCard()
        // The backend's part of a sign-out. The simulated app has no sign-out of its own.
        if isSimulated { try await setUser(nil) }
        try await instruct(.signOut)
        // The app may end the card without a word, as it has no key any more. Then the relay's word
        // counts.
        _ = try await seen("the card of the former user is still there") {
            let view = try await destination(of: card)
            let phases = [view?["shown"]?["phase"]?.string, view?["phase"]?.string]
            let over: Set = ["ended", "dismissed", "gone", "unreachable", "lapsed"]
            let isOver = phases.contains { $0.map(over.contains) ?? false }
            return view == nil || isOver ? true : nil
        }
        try await cleanUp()
        return "the card of the former user ended"
    }

    private mutating func endCard() async throws -> String {
        try await instruct(.end)
        try await startAnotherCard(audience: "device", device)
        let card = try runningCard()
        try await cleanUp()
        let phase = try await seen("the app did not report the end") {
            let phase = try await destination(of: card)?["shown"]?["phase"]?.string
            return phase == "ended" || phase == "dismissed" ? phase : nil
        }
        return "the app reported \(phase)"
    }
}
