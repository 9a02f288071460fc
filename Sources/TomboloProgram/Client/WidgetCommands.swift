import TomboloJSON
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
            let body = JSON.object { writer in
                writer.member("do", phoneDeed.rawValue)
                writer.optionals([
                    ("widget", kind), ("family", family),
                    ("config", invocation.text(.widgetConfig)),
                ])
            }.bytes
            request = .write(context, "POST", path, body: body)
        }
        var answer = try await client.send(request, name: phone)
        if deed == .gallery, !invocation.isGiven(.dryRun) {
            answer = try await filledGallery(path, client, context, phone)
        }
        try context.present(answer) { view in
            try context.terminal.write(deed == .gallery ? gallery(view) : table(view))
        }
        return .succeeded
    }

    /// Maximum time until the snapshots of all families have arrived.
    private static let galleryTime = Duration.seconds(10)

    /// Waits until each family in the phone's gallery has its snapshot, and returns the phone.
    private static func filledGallery(
        _ path: String, _ client: RelayClient, _ context: CommandContext, _ phone: String
    ) async throws -> RelayAnswer {
        let filled = try await context.loop.poll(every: .milliseconds(50), within: galleryTime) {
            let answer = try await client.send(RelayRequest("GET", path), name: phone)
            let gallery = try answer.document().root["gallery"]
            return gallery?["complete"]?.bool == true ? answer : nil
        }
        if let filled { return filled }
        throw ProgramError(
            "\(phone) has not got each family's snapshot in 10 s",
            remedy: "tombolo phone show \(phone)")
    }

    private static func table(_ phone: JSONView) -> TextTable {
        let rows = phone.items("widgets").map { widget in
            let next = widget["next_fetch_at"]?.string.map { at in
                "\(at) (\(widget["next_fetch_for"]?.string ?? ""))"
            }
            return [
                text(widget["kind"]), text(widget["family"]), text(widget["config"]),
                shows(widget), text(widget["url"]), text(widget["next_entry_at"]), next ?? "",
                "\(widget["fetches_left"]?.integer ?? 0)",
            ]
        }
        let titles = [
            "KIND", "FAMILY", "CONFIG", "SHOWS", "OPENS", "NEXT ENTRY", "NEXT FETCH", "LEFT",
        ]
        return TextTable(titles, rows)
    }

    private static func gallery(_ phone: JSONView) -> TextTable {
        let families = phone["gallery"]?.items("families") ?? []
        return TextTable(
            ["FAMILY", "SHOWS", "OPENS"],
            families.map { [text($0["family"]), shows($0), text($0["url"])] })
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
