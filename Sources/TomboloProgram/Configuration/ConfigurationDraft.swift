import TomboloCore
import TomboloJSON

/// A first configuration file with a comment for each key, for `config init`.
///
/// A key without an answer has its default, commented out with `//`. If any of them is uncommented,
/// the file stays valid, because the last member of each object is never commented out.
struct ConfigurationDraft {
    var listen = "127.0.0.1:8780"
    var data = "/var/lib/tombolo"
    var tls: Configuration.TLS?
    /// The app. If nil, an example is written and commented out.
    var app: Configuration.App?

    var text: String {
        var lines = [
            "{",
            "  // Tombolo's configuration. tombolo config check FILE tries it, tombolo config doc",
            "  // explains every key. A line that begins with // is not read: its value is the default.",
        ]
        for setting in Configuration.settings where !["listen", "data"].contains(setting.name) {
            lines += Self.commented(setting, of: Configuration(), indent: "  ")
        }
        lines += tlsLines
        lines += budgetLines
        lines += ["", "  // " + Self.meaning("data")]
        lines.append("  \"data\": \(Self.quoted(data)),")
        lines += ["", "  // " + Self.meaning("listen")]
        lines.append("  \"listen\": \(Self.quoted(listen)),")
        lines += limitLines
        lines += appLines
        lines.append("}")
        return lines.joined(separator: "\n") + "\n"
    }

    private var tlsLines: [String] {
        let files =
            tls
            ?? Configuration.TLS(certificate: "/etc/tombolo/tls.pem", key: "/etc/tombolo/tls.key")
        let mark = tls == nil ? "// " : ""
        return [
            "",
            "  // The listener's certificate chain and its private key (PEM). An address that other",
            "  // machines reach needs them. tombolo config reload applies a renewed one.",
            "  \(mark)\"tls\": { \"certificate\": \(Self.quoted(files.certificate)), "
                + "\"key\": \(Self.quoted(files.key)) },",
        ]
    }

    private var budgetLines: [String] {
        var lines = [
            "",
            "  // How fast phones are sent pushes, by budget class. Apple publishes no budgets: these",
            "  // are estimates. A class that is not here keeps its own.", "  \"budgets\": {",
        ]
        let classes = BudgetClass.allCases
        for (place, budgetClass) in classes.enumerated() {
            let grant = GrantFields(Budgets()[budgetClass])
            let fields = GrantFields.settings.map { setting in
                "\"\(setting.name)\": \(setting.value(of: grant)?.description ?? "null")"
            }.joined(separator: ", ")
            let isLast = place == classes.count - 1
            lines.append(
                "    \(isLast ? "" : "// ")\"\(budgetClass.name)\": { \(fields) }\(isLast ? "" : ",")"
            )
        }
        return lines + ["  },"]
    }

    private var limitLines: [String] {
        var lines = [
            "", "  // What the relay keeps and takes at most, for all of it.", "  \"limits\": {",
        ]
        let settings = Configuration.limitSettings
        for (place, setting) in settings.enumerated() {
            let isLast = place == settings.count - 1
            let value = setting.value(of: Configuration())?.description ?? "null"
            lines.append("    // \(setting.meaning) (\(setting.range))")
            lines.append(
                "    \(isLast ? "" : "// ")\"\(setting.name)\": \(value)\(isLast ? "" : ",")")
        }
        return lines + ["  },"]
    }

    private var appLines: [String] {
        var lines = [
            "", "  // The apps: one entry for each, and for each of Apple's two environments.",
            "  \"apps\": [",
        ]
        let mark = app == nil ? "// " : ""
        let shown = app ?? Self.example
        lines.append("    \(mark){")
        let settings = Configuration.App.settings.filter {
            $0.isRequired || $0.name == "environment"
        }
        for setting in Configuration.App.settings
        where !settings.contains(where: { $0.name == setting.name }) {
            let value =
                setting.value(of: shown)?.description ?? Self.examples[setting.name] ?? "null"
            lines.append("      // \(setting.name): \(setting.meaning)")
            lines.append("      // \"\(setting.name)\": \(value),")
        }
        for (place, setting) in settings.enumerated() {
            let value = setting.value(of: shown)?.description ?? "null"
            lines.append("      // \(setting.meaning)")
            lines.append(
                "      \(mark)\"\(setting.name)\": \(value)\(place == settings.count - 1 ? "" : ",")"
            )
        }
        return lines + ["    \(mark)}", "  ]"]
    }

    /// An example whose names belong to no real app or team.
    static let example: Configuration.App = {
        var app = Configuration.App()
        app.id = "com.example.app"
        app.teamID = "TEAM123456"
        app.keyID = "ABC123DEFG"
        app.keyFile = "/etc/tombolo/AuthKey_ABC123DEFG.p8"
        return app
    }()

    private static let examples = [
        "endpoint": "\"https://127.0.0.1:8443\"", "channels_endpoint": "\"https://127.0.0.1:8443\"",
        "ca_file": "\"/etc/tombolo/simulator-ca.pem\"",
    ]

    private static func commented<Owner>(
        _ setting: Setting<Owner>, of owner: Owner, indent: String
    ) -> [String] {
        let value = setting.value(of: owner)?.description ?? "null"
        return [
            "", "\(indent)// \(setting.meaning)",
            "\(indent)// \"\(setting.name)\": \(value),",
        ]
    }

    private static func meaning(_ name: String) -> String {
        Configuration.settings.first { $0.name == name }?.meaning ?? ""
    }

    private static func quoted(_ text: String) -> String { JSON.string(text).description }
}
