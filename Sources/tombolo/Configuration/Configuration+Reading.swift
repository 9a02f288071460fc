import TomboloCore
import TomboloEventLog
import TomboloJSON

extension Configuration {
    /// Reads the configuration's fields. Throws every fault found, unknown keys among them.
    ///
    /// - Parameter directory: where relative paths begin: that of the file.
    init(reading view: JSONView, directory: String) throws(FieldErrors) {
        var reader = FieldReader(view)
        listen = Self.listen(&reader)
        data = reader.string("data").map { Self.path($0, in: directory) }
        isInsecure = reader.bool("insecure") ?? false
        tls = Self.tls(&reader, directory)
        apps = Self.apps(&reader, directory)
        budgets = Self.budgets(&reader)
        retention = .standard
        if let limits = reader.object("limits") {
            var inner = reader.inside(limits, "limits")
            let range = LogRetention.historyMin...Span.hours(87_600)
            retention = LogRetention(
                history: inner.span("history", in: range) ?? retention.history,
                facts: inner.span("facts", in: Span.hours(1)...Span.hours(87_600))
                    ?? retention.facts)
            self.limits.startDeadline =
                inner.span("start_deadline", in: .seconds(1)...Span.hours(1))
                ?? self.limits.startDeadline
            self.limits.probeMax =
                inner.span("probe_max", in: .seconds(1)...Span.hours(1)) ?? self.limits.probeMax
            self.limits.frameIntervalMax =
                inner.span("min_rate", in: .seconds(1)...Span.hours(1))
                ?? self.limits.frameIntervalMax
            self.limits.readCounts(&inner)
            connectionsPerAddress = inner.integer("connections_per_address", in: 1...20_000)
                .map { Int($0) }
            handshakesPerSecond = inner.integer("handshakes_per_second", in: 1...20_000)
                .map { Int($0) }
            refusedKeysPerSecond = inner.integer("refused_keys_per_second", in: 1...20_000)
                .map { Int($0) }
            requestsPerKey = inner.integer("requests_per_key", in: 1...1_000_000).map { Int($0) }
            tailsPerKey = inner.integer("tails_per_key", in: 1...20_000).map { Int($0) }
            do { try inner.finish() } catch { reader.adopt(error) }
        }
        try reader.finish()
    }

    static func path(_ path: String, in directory: String) -> String {
        path.hasPrefix("/") || directory.isEmpty || directory == "." ? path : "\(directory)/\(path)"
    }

    private static func listen(_ reader: inout FieldReader) -> SocketAddressText {
        let standard = SocketAddressText(host: "127.0.0.1", port: 8780)
        guard let text = reader.string("listen") else { return standard }
        if let address = SocketAddressText(text) { return address }
        reader.fail("listen", "must be HOST:PORT, such as \"127.0.0.1:8780\" or \"[::1]:8780\"")
        return standard
    }

    private static func tls(_ reader: inout FieldReader, _ directory: String) -> TLS? {
        guard let view = reader.object("tls") else { return nil }
        var inner = reader.inside(view, "tls")
        let certificate = required("certificate", "the PEM file of the certificate", &inner)
        let key = required("key", "the PEM file of its private key", &inner)
        do { try inner.finish() } catch { reader.adopt(error) }
        guard let certificate, let key else { return nil }
        return TLS(certificate: path(certificate, in: directory), key: path(key, in: directory))
    }

    private static func apps(_ reader: inout FieldReader, _ directory: String) -> [App] {
        guard let list = reader.value("apps") else { return [] }
        guard list.kind == .array else {
            reader.fail("apps", "must be an array of apps")
            return []
        }
        guard list.count <= CoreConfiguration.appsMax else {
            reader.fail(
                "apps",
                "has \(list.count) apps, and a relay serves at most "
                    + "\(CoreConfiguration.appsMax); run another relay for the others")
            return []
        }
        var apps: [App] = []
        let pointer = reader.path("apps")
        for (index, view) in list.elements.enumerated() {
            var inner = FieldReader(view, pointer: "\(pointer)/\(index)")
            let app = App(reading: &inner, directory: directory)
            if let app, apps.contains(where: { app.isSame(as: $0) }) {
                inner.fail("id", "\(app.id) is there already for \(app.environment.name)")
            }
            do { try inner.finish() } catch { reader.adopt(error) }
            if let app { apps.append(app) }
        }
        return apps
    }

    fileprivate static func required(
        _ name: String, _ meaning: String, _ reader: inout FieldReader
    ) -> String? {
        let isThere = reader.value(name) != nil
        guard let text = reader.string(name) else {
            if !isThere { reader.fail(name, "is missing: \(meaning)") }
            return nil
        }
        guard text.isEmpty else { return text }
        reader.fail(name, "is empty: \(meaning)")
        return nil
    }

    /// `budgets` of the reader's object; what is not there stays as in `base`.
    static func budgets(_ reader: inout FieldReader, over base: Budgets = Budgets()) -> Budgets {
        var budgets = base
        guard let view = reader.object("budgets") else { return budgets }
        var inner = reader.inside(view, "budgets")
        for budgetClass in BudgetClass.allCases {
            guard let view = inner.object(budgetClass.name) else { continue }
            var grant = inner.inside(view, budgetClass.name)
            budgets[budgetClass] = Grant(
                reading: &grant, standard: budgets[budgetClass])
            do { try grant.finish() } catch { inner.adopt(error) }
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        return budgets
    }
}

extension Configuration.App {
    fileprivate init?(reading reader: inout FieldReader, directory: String) {
        let id = Configuration.required("id", "the app's bundle id", &reader)
        let team = Configuration.required("team_id", "the developer team's id", &reader)
        let key = Configuration.required("key_id", "the id of the .p8 key", &reader)
        let file = Configuration.required("key_file", "the path of the .p8 key", &reader)
        let tenant = reader.identifier("tenant") ?? Identifier("main")
        let environment = reader.choice(
            "environment", [("production", APNsEnvironment.production), ("sandbox", .sandbox)])
        let endpoint = Self.origin("endpoint", &reader)
        let channels = Self.origin("channels_endpoint", &reader)
        let ca = reader.string("ca_file")
        if ca != nil, endpoint == nil {
            reader.fail("ca_file", "needs endpoint: Apple's own certificate needs no ca_file")
        }
        guard let id, let team, let key, let file, let tenant else { return nil }
        self.init(
            id: id, tenant: TenantID(tenant), teamID: team, keyID: key,
            keyFile: Configuration.path(file, in: directory),
            environment: environment ?? .production, endpoint: endpoint,
            channelsEndpoint: channels,
            caFile: ca.map { Configuration.path($0, in: directory) })
    }

    fileprivate func isSame(as other: Self) -> Bool {
        id == other.id && tenant == other.tenant && environment == other.environment
    }

    private static func origin(_ name: String, _ reader: inout FieldReader) -> Origin? {
        guard let text = reader.string(name) else { return nil }
        if let origin = Origin(text) { return origin }
        reader.fail(
            name, "must be an origin without a path, such as \"https://127.0.0.1:8443\"")
        return nil
    }
}

extension Grant {
    /// Fields that are not there keep the class's own value; `"per_hour": null` is no bucket.
    fileprivate init(reading reader: inout FieldReader, standard: Grant) {
        let day = Span.zero...Span.hours(24)
        var perHour = standard.perHour
        if reader.isNull("per_hour") {
            perHour = nil
        } else if let rate = reader.double("per_hour") {
            perHour = rate
            if !(0.001...1_000_000).contains(rate) {
                reader.fail("per_hour", "must be from 0.001 to 1000000, or null for no bucket")
            }
        }
        let burst = reader.integer("burst", in: 1...1_000_000) ?? standard.burst
        let reserve = reader.integer("reserve", in: 0...1_000_000) ?? min(standard.reserve, burst)
        if reserve > burst { reader.fail("reserve", "must not be above burst, which is \(burst)") }
        if let perHour, burst > Grant.burstMax(perHour: perHour) {
            reader.fail(
                "burst",
                "must not be above \(Grant.burstMax(perHour: perHour)): at \(perHour) an hour an "
                    + "empty bucket must be full again within ten years")
        }
        self.init(
            spacing: reader.span("spacing", in: day) ?? standard.spacing, burst: burst,
            perHour: perHour, reserve: reserve,
            lowPrioritySpacing: reader.span("low_priority_spacing", in: day)
                ?? standard.lowPrioritySpacing)
    }
}
