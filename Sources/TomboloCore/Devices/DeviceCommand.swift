package import TomboloJSON

/// What a phone, or its backend, tells of a device.
package enum DeviceCommand: Sendable {
    case register(DeviceRegistration)
    case delete
    case putToken(TokenName, TokenRegistration)
    /// The whole set.
    case putTokens(TokenSet)
    /// Only where this is the token that the device has.
    case deleteToken(TokenName, TokenRegistration)
    case presence(PresenceReport)
    case report(ActivityReference, PhoneReport)
    case action(DeviceAction)
}

/// A device as registered: one installation of one app.
package struct DeviceRegistration: Hashable, Sendable {
    package var user: String?
    package var app: String?
    package var environment: APNsEnvironment?
    package var os: String?
    package var appVersion: String?
    package var timeZone: String?
    package var locale: String?
    package var frequentUpdates: Bool?
    package var controlCenter: String?
    /// Only who may `operate` sets it.
    package var budgetClass: BudgetClass?
    /// Members that a request gives as `null`. What it leaves out stays as it is.
    package var forgets: Members = []

    /// Members of a registration.
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
    }

    /// The whole registration, where a request gives a part of it.
    ///
    /// - Parameter onlyApp: the app that is meant where none is named.
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
        member(\.controlCenter, .controlCenter)
        member(\.budgetClass, .budgetClass)
        // The environment of another app tells nothing of this one's.
        if whole.app ?? onlyApp == known.app ?? onlyApp { member(\.environment, .environment) }
        return whole
    }

    /// Phones that say nothing are told by touches at the bottom.
    var controlCenterEdge: PresenceClassifier.Edge {
        controlCenter == "top_right" ? .topRight : .bottom
    }
}

/// Which of a device's tokens: `start:TYPE`, `activity:ID`, `widget`, `control:KIND`.
package enum TokenName: Hashable, Sendable {
    case start(type: String)
    case activity(ActivityReference)
    case widget
    case control(kind: String)

    /// Nil where `text` is none of the four forms.
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

    /// By the bytes of types and kinds.
    package static func == (one: TokenName, other: TokenName) -> Bool {
        switch (one, other) {
        case (.start(let one), .start(let other)), (.control(let one), .control(let other)):
            isSameText(one, other)
        case (.activity(let one), .activity(let other)): one == other
        case (.widget, .widget): true
        default: false
        }
    }

    /// Over what `==` compares.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .start(let text), .control(let text): hasher.combine(bytesOf: text)
        case .activity(let reference): hasher.combine(reference)
        case .widget: hasher.combine(0)
        }
    }
}

/// An activity's card as apps name it: `ID` for the first incarnation, `ID~N` from the second on,
/// and `ID~N.R` for a card that took the place of one that came near its 8 hours.
package struct ActivityReference: Hashable, Sendable {
    package var id: Identifier
    private var card: CardNumber

    /// Numbers beyond 2^31 stay there.
    package init(id: Identifier, incarnation: Int64, renewal: Int64 = 0) {
        self.id = id
        card = CardNumber(incarnation: incarnation, renewal: renewal)
    }

    /// Nil where `text` is no id, or its numbers are spelt otherwise than `text` would.
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

    /// Which life of the activity; 1 for the first.
    package var incarnation: Int64 { card.incarnation }
    /// Which card of the incarnation on a device: 0 for the first, one more with each renewal.
    package var renewal: Int64 { card.renewal }

    package var text: String {
        if renewal > 0 { return "\(id.rawValue)~\(incarnation).\(renewal)" }
        return incarnation == 1 ? id.rawValue : "\(id.rawValue)~\(incarnation)"
    }
}

/// A token as an app registers it.
package struct TokenRegistration: Hashable, Sendable {
    /// 2 to 512 lower-case hex digits, an even number of them: no length is assumed (Apple,
    /// "Sending notification requests to APNs").
    package var token: String
    /// When the app learned it; an older one never undoes a newer.
    package var observedAt: Instant?

    package init(token: String, observedAt: Instant? = nil) {
        self.token = token
        self.observedAt = observedAt
    }
}

/// A phone's word on one activity.
package struct PhoneReport: Sendable {
    /// ActivityKit's `ActivityState`.
    package enum Phase: UInt8, Hashable, Sendable {
        case pending, active, stale, ended, dismissed

        /// The card is on the phone, and lives.
        var isThere: Bool { self == .active || self == .stale }

        /// The word that phones report it by.
        package var name: String {
            switch self {
            case .pending: "pending"
            case .active: "active"
            case .stale: "stale"
            case .ended: "ended"
            case .dismissed: "dismissed"
            }
        }
    }

    package var phase: Phase
    /// Who dismissed it: `user` or `system`.
    package var by: String?
    /// The newest version that the phone has. Whether anybody saw it is another question.
    package var receivedVersion: Int64?
    /// The version of the newest picture.
    package var drawnVersion: Int64?
    /// The content state that the phone has, byte for byte.
    package var receivedState: JSON?
    /// The content state of the newest picture, byte for byte.
    package var drawnState: JSON?
    package var shownAt: Instant?
    package var firstShownAt: Instant?
    /// How often what it shows has changed, the start included.
    package var shownCount: Int64?
    package var lastLocalUpdate: Instant?
    /// The relay's own finding: it came when the last push had had its time, and does not show it.
    package internal(set) var missesPush = false
    /// The relay's own finding: the wall time since which the picture is older than what the phone
    /// has, and is the same; nil where it is not older.
    package internal(set) var frozenSince: Instant?
    /// The relay's own finding: the version whose state it reports, by value.
    package internal(set) var matchedVersion: Int64?
    /// The relay's own finding: the version whose state it reports as drawn.
    package internal(set) var matchedPicture: Int64?
    /// The versions that the history has of it already.
    var noted: (received: Int64?, drawn: Int64?) = (nil, nil)

    /// Whether it names a version that the history does not have of it.
    var hasNewVersion: Bool { nextNoted != noted }

    /// Finds whether the picture does not change, by what the phone said before.
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

    /// What the history has of it with this report.
    var nextNoted: (received: Int64?, drawn: Int64?) {
        (received ?? noted.received, drawn ?? noted.drawn)
    }

    /// The newest version that it has, as far as the report tells.
    package var received: Int64? { receivedVersion ?? matchedVersion ?? drawn }
    /// The newest version that is drawn, as far as the report tells.
    package var drawn: Int64? { drawnVersion ?? matchedPicture }
}
