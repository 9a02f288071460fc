package import TomboloJSON

/// A request of a phone or of its backend that changes or reports something about a device.
package enum DeviceCommand: Sendable {
    case register(DeviceRegistration)
    case delete
    case putToken(TokenName, TokenRegistration)
    /// All tokens that the app has now; others are removed.
    case putTokens(TokenSet)
    /// Deletes the token if it is the one that the device has.
    case deleteToken(TokenName, TokenRegistration)
    case presence(PresenceReport)
    case report(ActivityReference, PhoneReport)
    case action(DeviceAction)

    /// The names of the tokens that it gives.
    var tokenNames: [TokenName] {
        switch self {
        case .putToken(let name, _): [name]
        case .putTokens(let set): set.tokens.map(\.name)
        default: []
        }
    }

    /// True for the device's own PUT, which signs its key's user in.
    var isRegistration: Bool {
        if case .register = self { true } else { false }
    }
}

extension DeviceRegistration {
    /// True if the phone's system is known to be older than this version.
    package func isOlder(than major: Int, _ minor: Int = 0) -> Bool {
        let parts = os?.split(separator: ".").map { Int($0) ?? 0 } ?? []
        guard let first = parts.first, first > 0 else { return false }
        return (first, parts.count > 1 ? parts[1] : 0) < (major, minor)
    }

    /// True if the system starts no card by push (Apple: iOS 17.2 and later).
    package var startsNoCards: Bool { isOlder(than: 17, 2) }
}

/// What a device has registered. A device is one installation of one app.
package struct DeviceRegistration: Hashable, Sendable {
    package var user: String?
    package var app: String?
    package var environment: APNsEnvironment?
    package var os: String?
    package var appVersion: String?
    package var timeZone: String?
    package var locale: String?
    package var frequentUpdates: Bool?
    /// False if the user has switched Live Activities off for the app.
    package var activitiesEnabled: Bool?
    package var controlCenter: String?
    /// Only a key with scope `operate` can set it.
    package var budgetClass: BudgetClass?
    /// Members that are `null` in the request: their stored values are removed. Missing members
    /// keep their values.
    package var forgets: Members = []

    /// A set of members of a registration.
    package struct Members: OptionSet, Hashable, Sendable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let user = Members(rawValue: 1 << 0)
        package static let app = Members(rawValue: 1 << 1)
        package static let environment = Members(rawValue: 1 << 2)
        package static let os = Members(rawValue: 1 << 3)
        package static let appVersion = Members(rawValue: 1 << 4)
        package static let timeZone = Members(rawValue: 1 << 5)
        package static let locale = Members(rawValue: 1 << 6)
        package static let frequentUpdates = Members(rawValue: 1 << 7)
        package static let controlCenter = Members(rawValue: 1 << 8)
        package static let budgetClass = Members(rawValue: 1 << 9)
        package static let activitiesEnabled = Members(rawValue: 1 << 10)
    }

    /// The complete registration after a request that contains only some members.
    ///
    /// - Parameter onlyApp: the tenant's app if it has exactly one.
    func completed(by known: DeviceRegistration?, onlyApp: String?) -> DeviceRegistration {
        var whole = self
        whole.forgets = []
        guard let known else { return whole }
        func member<Value>(
            _ path: WritableKeyPath<DeviceRegistration, Value?>, _ member: Members
        ) {
            guard self[keyPath: path] == nil, !forgets.contains(member) else { return }
            whole[keyPath: path] = known[keyPath: path]
        }
        member(\.user, .user)
        member(\.app, .app)
        member(\.os, .os)
        member(\.appVersion, .appVersion)
        member(\.timeZone, .timeZone)
        member(\.locale, .locale)
        member(\.frequentUpdates, .frequentUpdates)
        member(\.activitiesEnabled, .activitiesEnabled)
        member(\.controlCenter, .controlCenter)
        member(\.budgetClass, .budgetClass)
        // An environment is kept only if the app stays the same.
        if whole.app ?? onlyApp == known.app ?? onlyApp { member(\.environment, .environment) }
        return whole
    }

    /// The screen edge of the Control Center; the bottom if the phone has not reported it.
    var controlCenterEdge: PresenceClassifier.Edge {
        controlCenter == "top_right" ? .topRight : .bottom
    }
}

/// The name of a device's token: `start:TYPE`, `activity:ID`, `widget`, `control:KIND`.
package enum TokenName: Hashable, Sendable {
    case start(type: String)
    case activity(ActivityReference)
    case widget
    case control(kind: String)

    /// Returns nil if `text` has another form.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts.first.map(String.init), parts.count == 2 ? String(parts[1]) : nil) {
        case ("start", let type?) where !type.isEmpty && type.utf8.count <= 256:
            self = .start(type: type)
        case ("activity", let reference?):
            guard let reference = ActivityReference(reference) else { return nil }
            self = .activity(reference)
        case ("control", let kind?) where !kind.isEmpty && kind.utf8.count <= 256:
            self = .control(kind: kind)
        case ("widget", nil): self = .widget
        default: return nil
        }
    }

    package var text: String {
        switch self {
        case .start(let type): "start:\(type)"
        case .activity(let reference): "activity:\(reference.text)"
        case .widget: "widget"
        case .control(let kind): "control:\(kind)"
        }
    }

    /// The activity of an update token whose id may be ActivityKit's own, which is a UUID.
    var mayBeActivityKits: ActivityReference? {
        guard case .activity(let reference) = self, reference.mayBeActivityKits else { return nil }
        return reference
    }

    /// Compares types and kinds by their bytes, not by Unicode equivalence.
    package static func == (one: TokenName, other: TokenName) -> Bool {
        switch (one, other) {
        case (.start(let one), .start(let other)), (.control(let one), .control(let other)):
            isSameText(one, other)
        case (.activity(let one), .activity(let other)): one == other
        case (.widget, .widget): true
        default: false
        }
    }

    /// Hashes the values that `==` compares.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .start(let text), .control(let text): hasher.combine(bytesOf: text)
        case .activity(let reference): hasher.combine(reference)
        case .widget: hasher.combine(0)
        }
    }
}

/// The name of an activity's card in apps: `ID` in the first incarnation, `ID~N` in the N-th one.
/// `ID~N.R` is the R-th renewal: a card that replaced another near its 8 hours.
package struct ActivityReference: Hashable, Sendable {
    package var id: Identifier
    private var card: CardNumber

    /// Numbers above 2³¹−1 are clamped.
    package init(id: Identifier, incarnation: Int64, renewal: Int64 = 0) {
        self.id = id
        card = CardNumber(incarnation: incarnation, renewal: renewal)
    }

    /// Returns nil if `text` has no valid id, or is not exactly what the property `text` returns.
    package init?(_ text: String) {
        let parts = text.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let id = Identifier(String(first)) else { return nil }
        self.init(id: id, incarnation: 1)
        guard parts.count == 2 else { return }
        let numbers = parts[1].split(separator: ".", omittingEmptySubsequences: false)
            .map { Int64($0) ?? 0 }
        guard numbers.count <= 2, numbers.allSatisfy({ $0 >= 1 }) else { return nil }
        card = CardNumber(
            incarnation: numbers[0], renewal: numbers.count == 2 ? numbers[1] : 0)
        guard self.text == text else { return nil }
    }

    /// True if the id is a UUID in upper case, as ActivityKit's own ids are. A producer may choose
    /// one, too.
    var mayBeActivityKits: Bool {
        StateSchema.isUUID(id.rawValue) && id.rawValue == id.rawValue.uppercased()
    }

    package var incarnation: Int64 { card.incarnation }
    /// Number of the card in the incarnation on a device: 0 for the first, plus 1 for each renewal.
    package var renewal: Int64 { card.renewal }

    package var text: String {
        if renewal > 0 { return "\(id.rawValue)~\(incarnation).\(renewal)" }
        return incarnation == 1 ? id.rawValue : "\(id.rawValue)~\(incarnation)"
    }
}

/// A token as an app sends it.
package struct TokenRegistration: Hashable, Sendable {
    /// An even number of lower-case hex digits, 2 to 512: Apple does not fix the length ("Sending
    /// notification requests to APNs").
    package var token: String
    /// When the app got the token from the system. An older token never replaces a newer one.
    package var observedAt: Instant?

    package init(token: String, observedAt: Instant? = nil) {
        self.token = token
        self.observedAt = observedAt
    }
}

/// A phone's report about one activity.
package struct PhoneReport: Sendable {
    /// ActivityKit's `ActivityState`.
    package enum Phase: String, Named, Sendable {
        case pending, active, stale, ended, dismissed

        /// True if the phone shows the card and it has not ended.
        var isThere: Bool { self == .active || self == .stale }
    }

    package var phase: Phase
    /// Who dismissed the card: `user` or `system`.
    package var by: String?
    /// The newest version that has reached the phone, drawn or not.
    package var receivedVersion: Int64?
    /// The version that the phone drew last.
    package var drawnVersion: Int64?
    /// The content state that has reached the phone, as the phone encodes it.
    package var receivedState: JSON?
    /// The content state that the phone drew last, as the phone encodes it.
    package var drawnState: JSON?
    package var shownAt: Instant?
    package var firstShownAt: Instant?
    /// How many times the drawing has changed, counting the first one.
    package var shownCount: Int64?
    package var lastLocalUpdate: Instant?
    /// Set by the relay: when it got the report (wall time). The times above are the phone's word.
    package internal(set) var heardAt: Instant?
    /// Set by the relay: true if the report lacks the last push although there was time for it.
    package internal(set) var missesPush = false
    /// Set by the relay: since when (wall time) the drawing is older than the received state and
    /// has not changed; nil if the drawing is not older.
    package internal(set) var frozenSince: Instant?
    /// Set by the relay: the version whose state equals `receivedState` by value.
    package internal(set) var matchedVersion: Int64?
    /// Set by the relay: the version whose state equals `drawnState` by value.
    package internal(set) var matchedPicture: Int64?
    /// The versions that the history has for this card before this report.
    var noted: (received: Int64?, drawn: Int64?) = (nil, nil)

    /// True if the report has a version that the history does not have for this card.
    var hasNewVersion: Bool { nextNoted != noted }

    /// Sets `frozenSince` by comparison with the report before.
    mutating func notePicture(after before: PhoneReport?, wall: Instant) {
        let isOlder =
            if let receivedState, let drawnState {
                !receivedState.isSameValue(as: drawnState)
            } else if let receivedVersion, let drawnVersion {
                drawnVersion < receivedVersion
            } else {
                false
            }
        guard phase.isThere, isOlder else { return frozenSince = nil }
        let isSame =
            before?.drawnVersion == drawnVersion && isSamePicture(before?.drawnState)
        frozenSince = isSame ? before?.frozenSince ?? wall : wall
    }

    private func isSamePicture(_ former: JSON?) -> Bool {
        guard let former, let drawnState else { return former == drawnState }
        return former.isSameValue(as: drawnState)
    }

    /// The versions that the history has after this report is noted.
    var nextNoted: (received: Int64?, drawn: Int64?) {
        (received ?? noted.received, drawn ?? noted.drawn)
    }

    /// The newest version that is known to have reached the phone.
    package var received: Int64? { receivedVersion ?? matchedVersion ?? drawn }
    /// The newest version that the phone is known to have drawn.
    package var drawn: Int64? { drawnVersion ?? matchedPicture }
}
