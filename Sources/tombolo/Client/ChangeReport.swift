import TomboloJSON

/// What a start, update or end led to, in a line for people.
struct ChangeReport {
    let text: String

    init(_ body: [UInt8], name: String) {
        // An answer of another shape is shown as it is.
        guard let view = try? JSONDocument(body).root, let version = view["version"]?.integer
        else {
            text = String(decoding: body, as: UTF8.self) + "\n"
            return
        }
        var line = "\(view["activity"]?.string ?? name): version \(version)"
        if let seq = view["seq"]?.integer { line += ", seq \(seq)" }
        if let status = view["status"]?.string { line += ", \(status)" }
        if let counts = view["destinations"] {
            line += ", sent to \(counts["sent"]?.integer ?? 0)"
            let deferred = counts["deferred"]?.integer ?? 0
            if deferred > 0 { line += ", \(deferred) waiting" + Self.waiting(view["decision"]) }
        }
        for delivery in view["deliveries"].map({ Array($0.elements) }) ?? [] {
            line += "\n  \(delivery["device"]?.string ?? delivery["route"]?.string ?? "push")"
            line += " \(delivery["result"]?.string ?? "")"
            if let took = delivery["took_ms"]?.integer { line += " in \(took) ms" }
        }
        for lint in view["lint"].map({ Array($0.elements) }) ?? [] {
            line +=
                "\n  lint: \(lint["message"]?.string ?? String(decoding: lint.raw, as: UTF8.self))"
        }
        text = line + "\n"
    }

    private static func waiting(_ decision: JSONView?) -> String {
        guard let decision, decision["action"]?.string == "deferred" else { return "" }
        var text = ""
        if let until = decision["until"]?.string { text += " until \(until)" }
        if let reason = decision["reason"]?.string { text += " (\(reason))" }
        return text
    }
}
