package import TomboloCore
import TomboloJSON

/// All codes of the attention list and of the readiness answer. Codes may be added, never renamed:
/// scripts compare them.
package enum AttentionCode: String, Hashable, Sendable, CaseIterable {
    // Problems of the relay itself.
    case notReady = "not_ready"
    case waiting
    case upstreamClosed = "upstream_closed"
    case clockBehind = "clock_behind"
    case certificateEnds = "certificate_ends"
    case logDamaged = "log_damaged"
    case noStandby = "no_standby"
    case keysUnreadable = "keys_unreadable"
    case registrationsRefused = "registrations_refused"

    // Problems of pushes, cards and activities.
    case refused
    case damaged
    case notShown = "not_shown"
    case frozen
    case startUnknown = "start_unknown"
    case tokenRefused = "token_refused"
    case noToken = "no_token"
    case budgetSpent = "budget_spent"
    case silent
    case dismissed
    case lapsed
    case unreached
    case neverBegan = "never_began"
    case producerSilent = "producer_silent"
    case paused

    /// The code of a trouble at destinations. Every trouble has one.
    package init(_ trouble: Overview.Trouble) {
        guard let code = Self(rawValue: trouble.rawValue) else {
            preconditionFailure("the trouble \(trouble.rawValue) has no attention code")
        }
        self = code
    }
}

/// What is the same at each occurrence of an attention code: `Protocol/pages.json`, `attention`.
///
/// The console's first screen, `doctor`, `/readyz` and `deploy/runbook.md` are made of these rows.
package struct AttentionRow: Hashable, Sendable {
    /// A request of the API that may end the problem. The console has a button for it.
    package struct Action: Hashable, Sendable {
        /// The button's word.
        package let title: String
        package let method: String
        /// Has placeholders, as `look` has.
        package let path: String
    }

    package let code: AttentionCode
    /// What is wrong, in one sentence without names.
    package let title: String
    /// True if somebody should look at it at once.
    package let isSevere: Bool
    /// The name of the check of `doctor`, which then fails; nil if it is only noted there.
    package let check: String?
    /// What to look at: a link into the console (`#/…`) or a path of the relay. It may have the
    /// placeholders {activity}, {device}, {app}, {environment} and {pause}.
    package let look: String
    package let action: Action?
    /// The command to begin with. It may have placeholders.
    package let command: String
    /// What it means, what to look at and what to do.
    package let runbook: String
    /// The name of the alert rule in `deploy/prometheus/alerts.yml`, if there is one.
    package let alert: String?

    /// All rows, in the order of `Protocol/pages.json`.
    package static let rows = PageFile.entries("attention").compactMap { name, entry in
        AttentionCode(rawValue: name).map { AttentionRow($0, entry) }
    }

    private static let byCode = Dictionary(
        rows.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })

    /// A row without a title is about a reason of a decision, and takes that reason's sentence.
    private init(_ code: AttentionCode, _ entry: JSONView) {
        self.code = code
        let reason = WaitReason.allCases.first { $0.name == code.rawValue }
        title = entry["title"]?.string ?? reason?.sentence ?? ""
        isSevere = entry["severe"]?.bool ?? true
        check = entry["check"]?.string
        look = entry.text("look")
        action = entry["action"].map {
            Action(title: $0.text("title"), method: $0.text("method"), path: $0.text("path"))
        }
        command = entry.text("command")
        runbook = entry.text("runbook")
        alert = entry["alert"]?.string
    }

    /// The row of a code. Every code has one.
    package static func row(_ code: AttentionCode) -> AttentionRow {
        guard let row = byCode[code] else {
            preconditionFailure("\(code.rawValue) has no row in Protocol/pages.json")
        }
        return row
    }

    /// A text of the table with its placeholders replaced; nil if one of them has no value.
    package static func filled(_ text: String, _ values: [String: String?]) -> String? {
        var text = text
        for (name, value) in values {
            if let value { text = text.replacing("{\(name)}", with: value) }
        }
        return text.contains("{") ? nil : text
    }
}

/// An alert rule that no attention code is about: `Protocol/pages.json`, `alerts`.
package struct AlertRow: Hashable, Sendable {
    /// The name of the rule in `deploy/prometheus/alerts.yml`.
    package let name: String
    package let title: String
    package let command: String
    package let runbook: String

    /// All rows, in the order of `Protocol/pages.json`.
    package static let rows = PageFile.entries("alerts").map { name, entry in
        AlertRow(
            name: name, title: entry.text("title"), command: entry.text("command"),
            runbook: entry.text("runbook"))
    }
}
