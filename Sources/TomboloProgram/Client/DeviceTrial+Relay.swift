import TomboloCore
import TomboloJSON
import TomboloLoop

// What a trial reads from the relay, and what it does on a simulated phone.

extension DeviceTrial {
    var devicePath: String { "/v1/devices/\(PathText.escaped(device))" }

    func cardPath(_ card: String) -> String { "/v1/activities/\(PathText.escaped(card))" }

    func view(_ path: String) async throws -> JSONView {
        try await client.view(path, name: device)
    }

    /// The device's part of the activity; nil if the activity is no longer for it.
    func destination(of card: String) async throws -> JSONView? {
        try await view(cardPath(card))["destinations"]?.elements.first {
            $0["device"]?.string == device
        }
    }

    func runningCard() throws -> String {
        guard let card, isLive else { throw Miss(text: Self.noCard, wasTried: false) }
        return card
    }

    /// Changes the state's first member, and returns the event's version.
    mutating func post(_ more: (inout JSONWriter) -> Void) async throws -> Int64 {
        let card = try runningCard()
        change += 1
        let patch = JSON.object { writer in
            writer.member("state", changedState)
            more(&writer)
        }
        let answer = try await client.answer(
            RelayRequest("PATCH", cardPath(card), body: patch.bytes))
        guard (200..<300).contains(answer.status),
            let version = try answer.document().root["version"]?.integer
        else {
            // The relay refuses the trial's own change: that says nothing about the phone.
            throw Miss(
                text: "the changed state is refused: \(refusal(answer))",
                wasTried: ![400, 422].contains(answer.status))
        }
        return version
    }

    var changedState: JSON {
        guard let member = state.document.root.members.first(where: { _ in true }) else {
            return state
        }
        let value =
            member.value.string.map { JSON.string("\($0) \(change)") }
            ?? member.value.integer.map { StateInput.value("\($0 &+ Int64(change))") }
            ?? StateInput.value("\((member.value.double ?? 0) + Double(change) / 1_000)")
        return state.setting(JSONPointer(tokens: [member.name]), to: value) ?? state
    }

    /// Waits until the app has reported this version's state or a later one.
    func awaitVersion(_ version: Int64) async throws -> String {
        let card = try runningCard()
        let view = try await seen("the app did not report version \(version) of \(card)") {
            let view = try await destination(of: card)
            return view?["shown"]?["received_version"]?.integer ?? 0 >= version ? view : nil
        }
        return "the phone had it at \(view["shown"]?["last_at"]?.string ?? "")"
    }

    func endRequest(_ card: String) -> RelayRequest {
        RelayRequest(
            "POST", cardPath(card) + "/end", fields: [("prefer", "wait=10")],
            body: Array(#"{"dismiss":"now"}"#.utf8))
    }

    func setUser(_ user: String?) async throws {
        let body = JSON.object { writer in
            if let user { writer.member("user", user) } else { writer.member("user", .null) }
        }
        _ = try await client.send(RelayRequest("PUT", devicePath, body: body.bytes), name: device)
    }

    // MARK: - The simulated phone

    func phoneRequest(_ deed: String) -> RelayRequest {
        RelayRequest("POST", "/v1/phones/\(PathText.escaped(device))", body: Array(deed.utf8))
    }

    /// Does what the person with a simulated phone does. On a real one the person does it.
    func act(_ deed: String) async throws {
        guard isSimulated else { return }
        _ = try await client.send(phoneRequest(deed), name: device)
    }

    func addWidget() async throws {
        let body = JSON.object { writer in
            writer.object("subject") { $0.member("device", device) }
            writer.member("content", JSON.emptyObject)
        }
        _ = try await client.send(
            RelayRequest("PUT", "/v1/timelines/\(Self.widgetKind)", body: body.bytes), name: nil)
        try await act(#"{"do":"widget-add","widget":"device-trial","family":"systemSmall"}"#)
    }

    func removeWidget() async throws {
        try await act(#"{"do":"widget-rm","widget":"device-trial"}"#)
        _ = try await client.answer(
            RelayRequest(
                "DELETE",
                "/v1/timelines/\(Self.widgetKind)?device=\(PathText.escaped(device))"))
    }

    // MARK: - Waiting and writing

    /// Says what the person with a real phone does now, and gives them time for it.
    func instruct(_ step: TrialStep) async throws {
        guard !isSimulated, let instruction = step.instruction else { return }
        context.terminal.complain("\(step.rawValue): \(instruction)\n")
        let end = context.loop.now + Self.personTime
        while context.loop.now < end {
            try stop.throwIfSet()
            try await context.loop.sleep(for: Self.interval)
        }
    }

    /// Reads until there is a value. Throws a miss after the time of a step.
    func seen<Value>(
        _ miss: String, _ read: () async throws -> Value?
    ) async throws -> Value {
        let value = try await context.loop.poll(every: Self.interval, within: within) {
            try stop.throwIfSet()
            return try await read()
        }
        guard let value else { throw Miss(text: miss) }
        return value
    }

    static func deed(_ name: String, _ card: String) -> String {
        #"{"do":"\#(name)","activity":"\#(card)"}"#
    }

    static func writeAlert(_ writer: inout JSONWriter) {
        writer.object("alert") { $0.member("title", "A trial") }
    }
}
