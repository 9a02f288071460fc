/// A setting of a simulated phone on the command line: `phone-3.os=17.4`.
package enum PhoneSetting: String, CaseIterable, Hashable, Sendable {
    case os, app
    case budgetClass = "class"
    /// The phone's user.
    case user
    /// The user's switch for frequent updates of the app.
    case frequentUpdates = "frequent-updates"
    /// When the user taps "Allow" on a new card.
    case allow
    case controlCenter = "control-center"
    case budget, starts
    case timeZone = "time-zone"
    /// Number of widget reloads by push that are allowed at once, and also per hour.
    case reloads
    /// Number of fetches of a widget in 24 hours, and minimum time between two fetches.
    case fetches
    case fetchSpacing = "fetch-spacing"
    case startsWindow = "starts-window"
    case watch
    case drawsEvery = "draws-every"
    case holdsLowPriority = "holds-low-priority"
    /// Delay after which pushes below priority 10 come together.
    case groupsLowPriority = "groups-low-priority"
    /// Every n-th push is overtaken by the next one.
    case reorders
    case trouble
    case noUpdateToken = "no-update-token"
    case startJitter = "start-jitter"
    case tokenDiesAfter = "token-dies-after"
    case deadTokenGrace = "dead-token-grace"

    /// The allowed values, for error messages.
    var values: String {
        switch self {
        case .app: "contract or careless"
        case .os: "a version such as 17.4"
        case .budgetClass: "standard, frequent or lab"
        case .user: "a name"
        case .frequentUpdates, .watch, .holdsLowPriority: "on or off"
        case .allow: "at-once, never or a duration such as 7s"
        case .controlCenter: "bottom or top_right"
        case .budget: "windows or bucket"
        case .timeZone: "a name such as Europe/Berlin"
        case .starts, .reorders, .reloads, .fetches: "a whole number from 1 to 1000000"
        case .startsWindow, .fetchSpacing, .drawsEvery, .groupsLowPriority, .startJitter,
            .tokenDiesAfter,
            .deadTokenGrace:
            "a duration such as 30s, 10m or 6h"
        case .trouble: PhoneTrouble.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        case .noUpdateToken: "a number from 0 to 1"
        }
    }

    /// Applies the setting. Throws if the text is not an allowed value.
    func apply(_ text: String, to phone: inout PhoneConfiguration) throws(SimulatorError) {
        switch self {
        case .app: phone.app = try value(text, .init(rawValue: text))
        case .os:
            guard let major = text.split(separator: ".").first.flatMap({ Int($0) }), major >= 16
            else { throw fault(text) }
            phone.os = text
        case .budgetClass: phone.budgetClass = try value(text, .init(rawValue: text))
        case .user: phone.user = try value(text, text.isEmpty ? nil : text)
        case .frequentUpdates: phone.frequentPushesEnabled = try flag(text)
        case .allow: phone.updateTokens = try allow(text)
        case .controlCenter: phone.controlCenter = try value(text, .init(rawValue: text))
        case .budget: phone.budgetModel = try value(text, .init(rawValue: text))
        case .starts: phone.startBudget.count = try count(text)
        case .timeZone: phone.timeZone = try value(text, text.isEmpty ? nil : text)
        case .reloads:
            let count = Double(try count(text))
            phone.reloadBudget = .init(depth: count, perHour: count)
        case .fetches: phone.widgetRules.fetchesPerDay = try count(text)
        case .fetchSpacing: phone.widgetRules.spacing = try duration(text)
        case .startsWindow: phone.startBudget.window = try duration(text)
        case .watch: phone.hasWatch = try flag(text)
        case .drawsEvery: phone.drawsEvery = try duration(text)
        case .holdsLowPriority: phone.holdsLowPriorityWhileLocked = try flag(text)
        case .groupsLowPriority: phone.lowPriorityGrouping = try duration(text)
        case .reorders: phone.reordersEvery = try count(text)
        case .trouble: phone.trouble.kinds.insert(try value(text, .init(rawValue: text)))
        case .noUpdateToken:
            let share = Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
            phone.trouble.noUpdateToken = try value(text, share)
        case .startJitter: phone.trouble.startJitter = try duration(text)
        case .tokenDiesAfter: phone.trouble.tokenDiesAfter = try duration(text)
        case .deadTokenGrace: phone.trouble.deadTokenGrace = try duration(text)
        }
    }

    private func allow(
        _ text: String
    ) throws(SimulatorError) -> PhoneConfiguration.UpdateTokenPolicy {
        switch text {
        case "at-once": .atOnce
        case "never": .never
        default: .after(try duration(text))
        }
    }

    private func flag(_ text: String) throws(SimulatorError) -> Bool {
        try value(text, ["on": true, "off": false][text])
    }

    private func count(_ text: String) throws(SimulatorError) -> Int {
        try value(text, Int(text).flatMap { (1...1_000_000).contains($0) ? $0 : nil })
    }

    private func duration(_ text: String) throws(SimulatorError) -> Duration {
        try value(text, FaultReader.duration(text))
    }

    private func value<Value>(
        _ text: String, _ value: Value?
    ) throws(SimulatorError) -> Value {
        guard let value else { throw fault(text) }
        return value
    }

    private func fault(_ text: String) -> SimulatorError {
        SimulatorError("\(rawValue)=\(text) is not right: \(rawValue) is \(values)")
    }
}

extension SimulatorConfiguration {
    /// Applies a setting such as `phone-3.os`, `17.4` to one phone, or with the name `all` to every
    /// phone. A later setting replaces an earlier one.
    package mutating func set(_ name: String, _ text: String) throws(SimulatorError) {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, let setting = PhoneSetting(rawValue: parts[1]) else {
            let names = PhoneSetting.allCases.map(\.rawValue).joined(separator: ", ")
            throw SimulatorError(
                "\"\(name)\" is no setting of a phone; write phone-3.os=17.4, or all.os=17.4, with "
                    + "one of \(names)")
        }
        // Check the value now, although the phones are made later.
        var probe = PhoneConfiguration(
            name: "", bundleID: "", startTokenSeed: [], updateTokenSeed: [])
        try setting.apply(text, to: &probe)
        phoneSettings.append(GivenSetting(phone: parts[0], setting: setting, text: text))
    }

    /// A setting for a phone name or for `all`.
    struct GivenSetting: Sendable {
        var phone: String
        var setting: PhoneSetting
        var text: String
    }

    /// Phone names in settings for which there is no phone.
    package var unknownPhones: [String] {
        let names = Set(
            (1...max(1, phoneCount)).map { "phone-\($0)" } + (hasPad ? ["pad-1"] : []) + ["all"])
        return phoneSettings.map(\.phone).filter { !names.contains($0) }
    }
}
