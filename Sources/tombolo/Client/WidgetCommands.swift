import TomboloJSON
import TomboloLoop
import TomboloSimulator

/// `phone widget`: acts on widgets of the simulated phones of `tombolo dev`.
enum WidgetCommands {
    /// Values of the first argument.
    enum Deed: String, CaseIterable {
        case list = "ls"
        case add
        case remove = "rm"
        case reload, gallery

        /// The action that is sent to the relay; nil if the command only reads.
        var phoneDeed: PhoneDeed? {
            switch self {
            case .list: nil
            case .add: .widgetAdd
            case .remove: .widgetRemove
            case .reload: .widgetReload
            case .gallery: .widgetGallery
            }
        }
    }

    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        guard let deed = Deed(rawValue: invocation.arguments[0]) else {
            throw ProgramError.usage(
                "\(invocation.arguments[0]) is nothing that is done to widgets",
                remedy: "tombolo help phone widget")
        }
        let (phone, kind) = (invocation.arguments[1], invocation.argument(2))
        let family = invocation.text(.family)
        if deed != .list, deed != .reload, kind == nil {
            throw ProgramError.usage(
                "\(deed.rawValue) needs a kind", remedy: "tombolo help phone widget")
        }
        if deed == .add, family == nil {
            throw ProgramError.usage(
                "a widget is of a family",
                remedy: "tombolo phone widget add \(phone) \(kind ?? "") --family systemSmall")
        }
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let path = "/v1/phones/\(PathText.escaped(phone))"
        var request = RelayRequest("GET", path)
        if let phoneDeed = deed.phoneDeed {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("do", phoneDeed.rawValue)
            if let kind { writer.member("widget", kind) }
            if let family { writer.member("family", family) }
            if let config = invocation.text(.widgetConfig) { writer.member("config", config) }
            writer.endObject()
            request = .write(context, "POST", path, body: writer.bytes)
        }
        var answer = try await client.send(request, name: phone)
        if deed == .gallery, !invocation.isGiven(.dryRun) {
            answer = try await filledGallery(path, client, context, phone)
        }
        guard OutputFormat(context) == .table else {
            try context.terminal.write(answer.line)
            return .succeeded
        }
        let view = try answer.document().root
        let table = deed == .gallery ? gallery(view) : table(view)
        try context.terminal.write(table.text(for: context.terminal).utf8)
        return .succeeded
    }

    /// Maximum time until the snapshots of all families have arrived.
    private static let galleryTime = Duration.seconds(10)

    /// Waits until each family in the phone's gallery has its snapshot, and returns the phone.
    private static func filledGallery(
        _ path: String, _ client: RelayClient, _ context: CommandContext, _ phone: String
    ) async throws -> RelayAnswer {
        let end = context.loop.now + galleryTime
        while true {
            let answer = try await client.send(RelayRequest("GET", path), name: phone)
            if try answer.document().root["gallery"]?["complete"]?.bool == true { return answer }
            guard context.loop.now < end else {
                throw ProgramError(
                    "\(phone) has not got each family's snapshot in 10 s",
                    remedy: "tombolo phone show \(phone)")
            }
            try await context.loop.sleep(for: .milliseconds(50))
        }
    }

    private static func table(_ phone: JSONView) -> TextTable {
        var table = TextTable([
            "KIND", "FAMILY", "CONFIG", "SHOWS", "OPENS", "NEXT ENTRY", "NEXT FETCH", "LEFT",
        ])
        for widget in phone["widgets"]?.elements.map({ $0 }) ?? [] {
            let next = widget["next_fetch_at"]?.string.map { at in
                "\(at) (\(widget["next_fetch_for"]?.string ?? ""))"
            }
            table.add([
                text(widget["kind"]), text(widget["family"]), text(widget["config"]),
                shows(widget), text(widget["url"]), text(widget["next_entry_at"]), next ?? "",
                "\(widget["fetches_left"]?.integer ?? 0)",
            ])
        }
        return table
    }

    private static func gallery(_ phone: JSONView) -> TextTable {
        var table = TextTable(["FAMILY", "SHOWS", "OPENS"])
        for family in phone["gallery"]?["families"]?.elements.map({ $0 }) ?? [] {
            table.add([text(family["family"]), shows(family), text(family["url"])])
        }
        return table
    }

    private static func text(_ view: JSONView?) -> String { Printable.line(view?.string ?? "") }

    /// The state that a widget shows, cut to the width of a table.
    static func shows(_ widget: JSONView) -> String {
        if widget["placeholder"]?.bool == true { return "the placeholder" }
        let state = widget["state"].map { Printable.json($0.raw) } ?? ""
        return Printable.line(String(state.prefix(120)))
    }

    // MARK: Arguments of other commands

    /// The kind in `widget:KIND`; nil if the argument names a card.
    static func kind(_ argument: String?) -> String? {
        guard let argument, argument.hasPrefix("widget:") else { return nil }
        return String(argument.dropFirst("widget:".count))
    }

    /// The phone's first widget of that kind and of the given family and configuration.
    static func widget(
        _ kind: String, on phone: JSONView, _ context: CommandContext
    ) -> JSONView? {
        let family = context.invocation.text(.family)
        let config = context.invocation.text(.widgetConfig)
        return phone["widgets"]?.elements.first { widget in
            widget["kind"]?.string == kind
                && (family ?? widget["family"]?.string) == widget["family"]?.string
                && (config ?? widget["config"]?.string) == widget["config"]?.string
        }
    }
}
