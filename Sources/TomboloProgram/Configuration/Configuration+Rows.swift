import TomboloCore
import TomboloJSON

struct ConfigurationRow {
    /// The JSON Pointer of the value.
    var pointer: String
    var value: JSON
    /// True if a running relay applies a new value at a reload.
    var isReloaded: Bool
}

extension Configuration {
    /// Every value with its pointer, in the order of the file.
    var rows: [ConfigurationRow] {
        var rows = Self.rows(of: self, Self.settings, "")
        if let database {
            rows += Self.rows(of: database, Database.wordSettings, "/database/postgres")
            rows += Self.rows(of: database, Database.settings, "/database")
        }
        if let tls { rows += Self.rows(of: tls, TLS.settings, "/tls") }
        for (index, app) in apps.enumerated() {
            rows += Self.rows(of: app, App.settings, "/apps/\(index)")
        }
        for budgetClass in BudgetClass.allCases {
            rows += Self.rows(
                of: GrantFields(budgets[budgetClass]), GrantFields.settings,
                "/budgets/\(budgetClass.name)")
        }
        return rows + Self.rows(of: self, Self.limitSettings, "/limits")
    }

    private static func rows<Owner>(
        of owner: Owner, _ settings: [Setting<Owner>], _ pointer: String
    ) -> [ConfigurationRow] {
        settings.compactMap { setting in
            setting.value(of: owner).map {
                ConfigurationRow(
                    pointer: "\(pointer)/\(setting.name)", value: $0,
                    isReloaded: setting.change == .reload)
            }
        }
    }

    /// The configuration as one JSON document, in the format of the file.
    var json: JSON {
        JSON.object { writer in
            writer.members(of: self, Self.settings)
            if let database {
                writer.object("database") { writer in
                    writer.object("postgres") { $0.members(of: database, Database.wordSettings) }
                    writer.members(of: database, Database.settings)
                }
            }
            if let tls { writer.object("tls") { $0.members(of: tls, TLS.settings) } }
            writer.objects("apps", apps) { writer, app in
                writer.members(of: app, App.settings)
            }
            writer.object("budgets") { budgets.write(into: &$0) }
            writer.object("limits") { $0.members(of: self, Self.limitSettings) }
        }
    }
}

extension Budgets {
    /// Writes a member for each class, in the format of the configuration file.
    func write(into writer: inout JSONWriter) {
        for budgetClass in BudgetClass.allCases {
            let grant = GrantFields(self[budgetClass])
            writer.object(budgetClass.name) { $0.members(of: grant, GrantFields.settings) }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members<Owner>(of owner: Owner, _ settings: [Setting<Owner>]) {
        for setting in settings {
            if let value = setting.value(of: owner) { member(setting.name, value) }
        }
    }
}
