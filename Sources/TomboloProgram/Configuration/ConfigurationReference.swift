import TomboloCore
import TomboloJSON

/// The reference of all configuration keys, made from the tables with which they are read.
struct ConfigurationReference {
    struct Row {
        /// The key's path with dots. `apps[]` is any app, `CLASS` any budget class.
        var key: String
        var range: String
        /// The default in the format of the file; nil if the key is required or has no default.
        var standard: String?
        var isRequired: Bool
        var change: String
        var meaning: String
    }

    let rows: [Row]

    init() {
        let standard = Configuration()
        rows =
            Self.rows("", Configuration.settings, of: standard)
            + Self.rows(
                "database.postgres.", Configuration.Database.wordSettings,
                of: Configuration.Database())
            + Self.rows("database.", Configuration.Database.settings, of: Configuration.Database())
            + Self.rows("tls.", Configuration.TLS.settings, of: nil)
            + Self.rows("apps[].", Configuration.App.settings, of: Configuration.App())
            + Self.rows("budgets.CLASS.", GrantFields.settings, of: nil)
            + Self.rows("limits.", Configuration.limitSettings, of: standard)
    }

    private static func rows<Owner>(
        _ prefix: String, _ settings: [Setting<Owner>], of standard: Owner?
    ) -> [Row] {
        settings.map { setting in
            let value = setting.isRequired ? nil : standard.flatMap { setting.value(of: $0) }
            return Row(
                key: prefix + setting.name, range: setting.range, standard: value?.description,
                isRequired: setting.isRequired, change: setting.change.rawValue,
                meaning: setting.meaning)
        }
    }

    /// Two tables of Markdown: the keys, and the grants of the budget classes.
    var markdown: String {
        var text = "| Key | Value | Default | Applied by | Meaning |\n|---|---|---|---|---|\n"
        for row in rows {
            let standard = row.standard.map { "`\($0)`" } ?? (row.isRequired ? "required" : "")
            text += "| `\(row.key)` | \(row.range) | \(standard) | \(row.change) | "
            text += "\(row.meaning) |\n"
        }
        let names = GrantFields.settings.map { "`\($0.name)`" }
        text += "\n| `budgets` | \(names.joined(separator: " | ")) |\n"
        text += String(repeating: "|---", count: names.count + 1) + "|\n"
        for budgetClass in BudgetClass.allCases {
            let grant = GrantFields(Budgets()[budgetClass])
            let values = GrantFields.settings.map { $0.value(of: grant)?.description ?? "" }
            text += "| `\(budgetClass.name)` | \(values.joined(separator: " | ")) |\n"
        }
        return text
    }
}
