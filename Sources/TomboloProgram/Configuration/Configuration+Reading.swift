import TomboloCore
import TomboloJSON

extension Configuration {
    /// Reads the configuration's fields. Throws all faults found, including unknown keys.
    ///
    /// - Parameter directory: the directory of the file, to which relative paths refer.
    init(reading view: JSONView, directory: String) throws(FieldErrors) {
        self.init()
        var reader = FieldReader(view)
        reader.read(Self.settings, into: &self, directory: directory)
        database = Database.read(&reader, directory)
        tls = Self.tls(&reader, directory)
        apps = Self.apps(&reader, directory)
        budgets = Self.budgets(&reader)
        if let view = reader.object("limits") {
            var inner = reader.inside(view, "limits")
            inner.read(Self.limitSettings, into: &self)
            do { try inner.finish() } catch { reader.adopt(error) }
        }
        try reader.finish()
    }

    static func path(_ path: String, in directory: String) -> String {
        path.hasPrefix("/") || directory.isEmpty || directory == "." ? path : "\(directory)/\(path)"
    }

    private static func tls(_ reader: inout FieldReader, _ directory: String) -> TLS? {
        guard let view = reader.object("tls") else { return nil }
        var inner = reader.inside(view, "tls")
        var tls = TLS(certificate: "", key: "")
        inner.read(TLS.settings, into: &tls, directory: directory)
        do { try inner.finish() } catch { reader.adopt(error) }
        return tls
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
            if apps.contains(where: { app.isUpstream(of: $0) }) {
                inner.fail("id", "\(app.id) is there already for \(app.environment.name)")
            }
            do { try inner.finish() } catch { reader.adopt(error) }
            apps.append(app)
        }
        return apps
    }

    /// Reads the member `budgets`. Values that are missing are taken from `base`.
    static func budgets(_ reader: inout FieldReader, over base: Budgets = Budgets()) -> Budgets {
        var budgets = base
        guard let view = reader.object("budgets") else { return budgets }
        var inner = reader.inside(view, "budgets")
        for budgetClass in BudgetClass.allCases {
            guard let view = inner.object(budgetClass.name) else { continue }
            var grant = inner.inside(view, budgetClass.name)
            budgets[budgetClass] = Grant(reading: &grant, standard: budgets[budgetClass])
            do { try grant.finish() } catch { inner.adopt(error) }
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        return budgets
    }
}

extension Configuration.App {
    fileprivate init(reading reader: inout FieldReader, directory: String) {
        self.init()
        reader.read(Self.settings, into: &self, directory: directory)
        if caFile != nil, endpoint == nil {
            reader.fail("ca_file", "needs endpoint: Apple's own certificate needs no ca_file")
        }
    }
}

extension Grant {
    /// Fields that are missing are taken from `standard`. `"per_hour": null` means no bucket.
    fileprivate init(reading reader: inout FieldReader, standard: Grant) {
        var fields = GrantFields(standard)
        reader.read(GrantFields.settings, into: &fields)
        if reader.value("reserve") == nil { fields.reserve = min(fields.reserve, fields.burst) }
        if fields.reserve > fields.burst {
            reader.fail("reserve", "must not be above burst, which is \(fields.burst)")
        }
        if let perHour = fields.perHour, fields.burst > Grant.burstMax(perHour: perHour) {
            reader.fail(
                "burst",
                "must not be above \(Grant.burstMax(perHour: perHour)): at \(perHour) an hour an "
                    + "empty bucket must be full again within ten years")
        }
        self.init(
            spacing: fields.spacing, burst: fields.burst, perHour: fields.perHour,
            reserve: fields.reserve, lowPrioritySpacing: fields.lowPrioritySpacing)
    }
}
