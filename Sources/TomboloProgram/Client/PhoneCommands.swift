import TomboloJSON
import TomboloLoop
import TomboloSimulator

/// `phone`: acts on the simulated phones of `tombolo dev`, through the relay's `/v1/phones`.
enum PhoneCommands {
    static func list(_ context: CommandContext) async throws -> ExitStatus {
        let titles = [
            "PHONE", "CLASS", "OS", "APP", "SCREEN", "NETWORK", "BUDGET LEFT", "DRAWN", "CARDS",
        ]
        return try await context.present(RelayRequest("GET", "/v1/phones"), name: nil) { root in
            try context.terminal.write(TextTable(titles, root.items("phones").map(row)))
        }
    }

    private static func row(_ phone: JSONView) -> [String] {
        let budget = phone["budget"]
        let left = budget.map { "\($0["left"]?.integer ?? 0) of \($0["of"]?.integer ?? 0)" }
        let cards = phone.items("cards").map { card in
            "\(card["activity"]?.string ?? "?") \(card["phase"]?.string ?? "")"
        }
        return [
            phone["phone"]?.string ?? "", phone["class"]?.string ?? "", phone["os"]?.string ?? "",
            place(phone), phone["locked"]?.bool == true ? "locked" : "unlocked",
            phone["online"]?.bool == true ? "online" : "offline", left ?? "no limit",
            "\(phone["drawn"]?.integer ?? 0)", cards.joined(separator: ", "),
        ]
    }

    private static func place(_ phone: JSONView) -> String {
        if phone["terminated"]?.bool == true { return "closed" }
        switch phone["presence"]?.string {
        case "active": return "in front"
        case "covered": return "under the Control Center"
        case "inactive": return "in the app switcher"
        default: return "in the background"
        }
    }

    static func show(_ context: CommandContext) async throws -> ExitStatus {
        let name = context.invocation.arguments[0]
        return try await print(
            context, RelayRequest("GET", "/v1/phones/\(PathText.escaped(name))"), name: name)
    }

    static func act(_ deed: PhoneDeed, _ context: CommandContext) async throws -> ExitStatus {
        let arguments = context.invocation.arguments
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("do", deed.rawValue)
        switch deed {
        case .listen: try await writeListener(&writer, to: arguments[1], context)
        case .swipe, .allow, .deny, .rotate:
            if arguments.count > 1 { writer.member("activity", arguments[1]) }
        case .touch: try writePoint(&writer, arguments.dropFirst())
        case .lowPower, .watch, .statusBar:
            writer.member("on", arguments.count < 2 || arguments[1] == "on")
        case .trouble:
            writer.member("kind", arguments[1])
            writer.member("on", arguments.count < 3 || arguments[2] == "on")
        default: break
        }
        writer.endObject()
        let path = "/v1/phones/\(PathText.escaped(arguments[0]))"
        return try await print(
            context, .write(context, "POST", path, body: writer.bytes), name: arguments[0])
    }

    private static func writePoint(
        _ writer: inout JSONWriter, _ texts: ArraySlice<String>
    ) throws {
        guard !texts.isEmpty else { return }
        let numbers = texts.compactMap { Double($0) }.filter(\.isFinite)
        guard numbers.count == 2 else {
            throw ProgramError.usage(
                "a touch has two numbers, X and Y", remedy: "tombolo phone touch phone-1 195 830")
        }
        writer.member("x", numbers[0])
        writer.member("y", numbers[1])
    }

    /// Taps on the phone, and shows the result.
    static func tap(_ context: CommandContext) async throws -> ExitStatus {
        let (arguments, invocation) = (context.invocation.arguments, context.invocation)
        let parameters = invocation.pairs(.tapParameter)
        let (link, intent) = (invocation.text(.tapLink), invocation.text(.tapIntent))
        guard arguments.count > 1 || link != nil || intent != nil else {
            throw ProgramError.usage(
                "nothing is tapped", remedy: "name a card, widget:KIND, --link or --intent")
        }
        let kind = WidgetCommands.kind(invocation.argument(1))
        guard parameters.isEmpty || intent != nil else {
            throw ProgramError.usage("-p is a parameter of an intent", remedy: "give --intent NAME")
        }
        let body = try JSON.object { writer in
            writer.member("do", PhoneDeed.tap.rawValue)
            if let kind {
                writer.member("widget", kind)
                writer.optionals(
                    invocation.values([("family", .family), ("config", .widgetConfig)]))
            } else if arguments.count > 1 {
                writer.member("activity", arguments[1])
            }
            writer.optionals([("link", link), ("intent", intent)])
            if !parameters.isEmpty {
                writer.member("parameters", try StateInput.object(parameters))
            }
        }.bytes
        let path = "/v1/phones/\(PathText.escaped(arguments[0]))"
        let request = RelayRequest.write(context, "POST", path, body: body)
        guard !invocation.isGiven(.dryRun) else {
            return try await print(context, request, name: arguments[0])
        }
        return try await follow(request, path, context, name: arguments[0])
    }

    /// Reads the phone repeatedly until the relay has answered the tap or the phone has given up.
    private static func follow(
        _ request: RelayRequest, _ path: String, _ context: CommandContext, name: String
    ) async throws -> ExitStatus {
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let before = try await client.view(path, name: name)
        let number = before["tap"]?["number"]?.integer ?? 0
        var answer = try await client.send(request, name: name)
        // A tap on a widget without a URL only opens the app, so the relay gets no request.
        let isHeard = try answer.document().root["tap"]?["number"]?.integer ?? 0 > number
        while try answer.document().root["tap"]?["result"]?.string == "waiting" {
            try await context.loop.sleep(for: .milliseconds(50))
            answer = try await client.send(RelayRequest("GET", path), name: name)
        }
        let phone = try answer.document().root
        try context.present(answer) { try context.terminal.print(summary($0)) }
        return !isHeard || phone["tap"]?["result"]?.string == "sent" ? .succeeded : .failed
    }

    /// Writes the members for a card that listens on a channel. They come from the activity that
    /// the relay runs on the channel.
    private static func writeListener(
        _ writer: inout JSONWriter, to channel: String, _ context: CommandContext
    ) async throws {
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let known = try await client.view(
            "/v1/channels/\(PathText.escaped(channel))", name: channel)
        guard let id = known["id"]?.string, let name = known["activity"]?.string else {
            throw ProgramError(
                "no activity is on the channel \(channel)", status: .notFoundOrConflict)
        }
        let activity = try await client.view("/v1/activities/\(PathText.escaped(name))", name: name)
        writer.member("channel", id)
        writer.member("activity", name)
        writer.member("type", activity["type"]?.string ?? "")
        if let state = activity["state"] { writer.member("state", state.json) }
    }

    /// Sends the request, then prints the phone: one line for the phone, and one for each card.
    private static func print(
        _ context: CommandContext, _ request: RelayRequest, name: String
    ) async throws -> ExitStatus {
        try await context.present(request, name: name) { phone in
            let lines =
                [summary(phone)] + phone.items("cards").map(summary(card:))
                + phone.items("widgets").map(summary(widget:))
            for line in lines { try context.terminal.print(line) }
        }
    }

    private static func summary(_ phone: JSONView) -> String {
        let cells = row(phone)
        var words = ["app \(cells[3])", cells[4], cells[5], "budget left: \(cells[6])"]
        if phone["budget"]?["holds"]?.bool == true { words.append("holds a push over budget") }
        if phone["budget"]?["asks_for_frequent_updates"]?.bool == true {
            words.append("asks whether the app may update more often")
        }
        if phone["watch"]?.bool == true { words.append("with a watch") }
        if let opened = phone["opened"]?.string { words.append("opened with \(opened)") }
        if let tap = phone["tap"] { words.append(summary(tap: tap)) }
        words += phone.texts("trouble")
        return Printable.line("\(cells[0]): \(words.joined(separator: ", "))")
    }

    private static func summary(tap: JSONView) -> String {
        let what = ["intent", "link", "activity"].lazy.compactMap { tap[$0]?.string }.first ?? ""
        let result = tap["result"]?.string ?? ""
        let reason = tap["reason"]?.string.map { " (\($0))" } ?? ""
        return "tap on \(what): \(result)\(reason)"
    }

    /// Says why the screen does not show the newest state.
    static func notes(card: JSONView) -> [String] {
        let isBehind = card["drawn_state"]?.raw.elementsEqual(card["state"]?.raw ?? []) == false
        return (isBehind ? ["has a newer state that it has not drawn"] : [])
            + (card["overlay"]?.bool == true ? ["under a spinner"] : [])
    }

    private static func summary(widget: JSONView) -> String {
        let names = ["kind", "family", "config"].compactMap { widget[$0]?.string }
        var words = ["shows \(WidgetCommands.shows(widget))"]
        if let at = widget["next_fetch_at"]?.string {
            words.append("fetches at \(at) for \(widget["next_fetch_for"]?.string ?? "")")
        }
        words.append("\(widget["fetches_left"]?.integer ?? 0) fetches left")
        return Printable.line("  widget \(names.joined(separator: " ")): ")
            + Printable.line(words.joined(separator: ", "))
    }

    private static func summary(card: JSONView) -> String {
        let state = card["drawn_state"].map { Printable.json($0.raw) } ?? "{}"
        var words = [card["phase"]?.string ?? "", "shows \(state.prefix(200))"]
        words += notes(card: card)
        if card["waits_for_allow"]?.bool == true { words.append("waits for \"Allow\"") }
        return Printable.line(
            "  \(card["activity"]?.string ?? "?"): \(words.joined(separator: ", "))")
    }
}
