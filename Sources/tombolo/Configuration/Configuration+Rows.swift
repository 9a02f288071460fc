import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloJSON
import TomboloServer

extension Configuration {
    /// Every value with its pointer, in the order of the file.
    var rows: [(pointer: String, value: JSON)] {
        var rows: [(String, JSON)] = [("/listen", Self.text(listen.description))]
        if let data { rows.append(("/data", Self.text(data))) }
        if let tls {
            rows.append(("/tls/certificate", Self.text(tls.certificate)))
            rows.append(("/tls/key", Self.text(tls.key)))
        }
        rows.append(("/insecure", JSON(unchecked: Array(isInsecure ? "true".utf8 : "false".utf8))))
        for (index, app) in apps.enumerated() {
            rows += app.rows.map { ("/apps/\(index)/\($0.name)", Self.text($0.value)) }
        }
        for budgetClass in BudgetClass.allCases {
            let grant = budgets[budgetClass].rows
            rows += grant.map { ("/budgets/\(budgetClass.name)/\($0.name)", $0.value) }
        }
        return rows + limitRows.map { ("/limits/\($0.name)", $0.value) }
    }

    /// All of `limits`, also those that nobody has set.
    private var limitRows: [(name: String, value: JSON)] {
        let (server, doors) = (server, doors)
        let counts = [
            ("connections_per_address", server.connectionsPerAddress),
            ("handshakes_per_second", server.handshakesPerSecond),
            ("refused_keys_per_second", doors.refusedKeysPerSecond),
            ("requests_per_key", doors.requestsPerKeyMax),
            ("tails_per_key", doors.tailsPerKeyMax),
        ]
        let kept = limits.counts.map { ($0.name, limits[keyPath: $0.path]) }
        return [
            ("history", Self.text(retention.history.text)),
            ("facts", Self.text(retention.facts.text)),
            ("start_deadline", Self.text(limits.startDeadline.text)),
            ("probe_max", Self.text(limits.probeMax.text)),
            ("min_rate", Self.text(limits.frameIntervalMax.text)),
        ] + (counts + kept).map { ($0.0, JSON(unchecked: Array("\($0.1)".utf8))) }
    }

    /// The whole as one document, as the file would have it.
    var json: JSON {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("listen", listen.description)
        if let data { writer.member("data", data) }
        if let tls {
            writer.name("tls")
            writer.beginObject()
            writer.member("certificate", tls.certificate)
            writer.member("key", tls.key)
            writer.endObject()
        }
        writer.member("insecure", isInsecure)
        writer.name("apps")
        writer.beginArray()
        for app in apps {
            writer.beginObject()
            for (name, value) in app.rows { writer.member(name, value) }
            writer.endObject()
        }
        writer.endArray()
        writer.name("budgets")
        budgets.write(into: &writer)
        writer.name("limits")
        writer.beginObject()
        for (name, value) in limitRows { writer.member(name, value) }
        writer.endObject()
        writer.endObject()
        return writer.json
    }

    fileprivate static func text(_ text: String) -> JSON {
        var writer = JSONWriter()
        writer.string(text)
        return writer.json
    }
}

extension Budgets {
    /// As the configuration has them.
    func write(into writer: inout JSONWriter) {
        writer.beginObject()
        for budgetClass in BudgetClass.allCases {
            writer.name(budgetClass.name)
            writer.beginObject()
            for (name, value) in self[budgetClass].rows { writer.member(name, value) }
            writer.endObject()
        }
        writer.endObject()
    }
}

extension Configuration.App {
    fileprivate var rows: [(name: String, value: String)] {
        var rows = [
            ("id", id), ("tenant", tenant.name.rawValue), ("team_id", teamID), ("key_id", keyID),
            ("key_file", keyFile), ("environment", environment.name),
        ]
        if let endpoint { rows.append(("endpoint", endpoint.description)) }
        if let channelsEndpoint {
            rows.append(("channels_endpoint", channelsEndpoint.description))
        }
        if let caFile { rows.append(("ca_file", caFile)) }
        return rows
    }
}

extension Grant {
    fileprivate var rows: [(name: String, value: JSON)] {
        var rate = JSONWriter()
        if let perHour { rate.double(perHour) } else { rate.null() }
        return [
            ("spacing", Configuration.text(spacing.text)),
            ("burst", JSON(unchecked: Array("\(burst)".utf8))), ("per_hour", rate.json),
            ("reserve", JSON(unchecked: Array("\(reserve)".utf8))),
            ("low_priority_spacing", Configuration.text(lowPrioritySpacing.text)),
        ]
    }
}
