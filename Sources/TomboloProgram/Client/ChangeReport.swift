import TomboloJSON

/// The result of a start, update or end, as a line for people.
struct ChangeReport {
    let text: String

    /// Prints the answer to a change: for people as a report, else as it came.
    static func present(_ answer: RelayAnswer, name: String, _ context: CommandContext) throws {
        guard context.printsTable else { return try context.terminal.write(answer.line) }
        try context.terminal.show(ChangeReport(answer.body, name: name).text)
    }

    init(_ body: [UInt8], name: String) {
        // An answer that is not as expected is shown unchanged.
        let view = (try? JSONDocument(body))?.root
        if let view, let ended = view["ended"] {
            text = Self.ended(Array(ended.elements), isTried: view["dry_run"]?.bool == true)
            return
        }
        guard let view, let version = view["version"]?.integer else {
            text = String(decoding: body, as: UTF8.self)
            return
        }
        if view["dry_run"]?.bool == true {
            text = Self.tried(view, name, version) + Self.lints(view) + "\n"
            return
        }
        var line = "\(view["activity"]?.string ?? name): version \(version)"
        if let seq = view["seq"]?.integer { line += ", seq \(seq)" }
        if let status = view["status"]?.string { line += ", \(status)" }
        if let counts = view["destinations"] {
            line += ", sent to \(counts["sent"]?.integer ?? 0)"
            let sending = counts["sending"]?.integer ?? 0
            if sending > 0 { line += ", \(sending) on the way" }
            let deferred = counts["deferred"]?.integer ?? 0
            if deferred > 0 { line += ", \(deferred) waiting" + Self.waiting(view["decision"]) }
            let skipped = counts["skipped"]?.integer ?? 0
            if skipped > 0 { line += ", \(skipped) skipped" }
        }
        if let reason = Self.reason(view["decision"]) { line += "\n  \(reason)" }
        for delivery in view.items("deliveries") {
            let channel = delivery["channel"]?.string
            line += "\n  \(delivery["device"]?.string ?? channel ?? "push")"
            line += " \(delivery["result"]?.string ?? "")" + Self.answer(delivery)
            if let took = delivery["took_ms"]?.integer { line += " in \(took) ms" }
            if channel != nil { line += ": on the channel; who listens is unknown" }
        }
        text = line + Self.lints(view) + "\n"
    }

    /// Reports the end of several activities at once.
    private static func ended(_ ended: [JSONView], isTried: Bool) -> String {
        let outcome = isTried ? "would end (a dry run: nothing was stored)" : "ended"
        return "\(ended.count) \(outcome)\n"
            + ended.map { one in
                "  \(one["activity"]?.string ?? ""): version \(one["version"]?.integer ?? 0)\n"
            }.joined()
    }

    /// Returns a line for each lint: its place in the request, and its message.
    static func lints(_ view: JSONView) -> String {
        view.items("lint").map { lint in
            let message = lint["message"]?.string ?? String(decoding: lint.raw, as: UTF8.self)
            let words = [lint["pointer"]?.string ?? "", message].filter { !$0.isEmpty }
            let text = CommandWords.replacingRequests(in: words.joined(separator: " "))
            return "\n  lint: \(text)"
        }.joined()
    }

    /// Apple's status and reason if Apple did not accept the push.
    private static func answer(_ delivery: JSONView) -> String {
        guard delivery["result"]?.string != "accepted" else { return "" }
        let words = [
            delivery["status"]?.integer.map(String.init), delivery["reason"]?.string,
        ].compactMap { $0 }
        return words.isEmpty ? "" : " (\(words.joined(separator: " ")))"
    }

    /// The result of a dry run, which stored nothing.
    private static func tried(_ view: JSONView, _ name: String, _ version: Int64) -> String {
        let id = view["activity"]?.string ?? name
        guard view["changes"]?.bool != false else {
            return "\(id): stays at version \(version) (a dry run)"
        }
        let push = view["push"]
        var text = "\(id): would be version \(version) (a dry run: nothing was stored)"
        text += "\n  \(push?["payload_bytes"]?.integer ?? 0) of"
        text += " \(push?["limit_bytes"]?.integer ?? 0) bytes to \(push?["topic"]?.string ?? "")"
        let devices = view["devices"]?.integer ?? 0
        if devices == 0 { text += "\n  no device is reached" }
        for route in view.items("routes") {
            text +=
                "\n  \(route["device"]?.string ?? ""): \(route["route"]?.string ?? "no way yet")"
        }
        guard view["routes"] != nil else {
            guard devices > 0 else { return text }
            return text + "\n  \(devices) \(devices == 1 ? "device" : "devices"); their names and "
                + "the whole content are for a key of scope observe"
        }
        let untold = devices - Int64(view["routes"]?.count ?? 0)
        return text + (untold > 0 ? "\n  and \(untold) more" : "")
    }

    private static func waiting(_ decision: JSONView?) -> String {
        guard let decision, decision["action"]?.string == "deferred" else { return "" }
        return decision["until"]?.string.map { " until \($0)" } ?? ""
    }

    /// Why the push waits at a destination, or why it is not sent to any.
    private static func reason(_ decision: JSONView?) -> String? {
        let words = ["deferred": "waits", "skipped": "skipped"]
        guard let decision, let word = decision["action"]?.string.flatMap({ words[$0] }),
            let reason = decision["reason_text"]?.string ?? decision["reason"]?.string
        else { return nil }
        return "\(word): \(reason)"
    }
}
