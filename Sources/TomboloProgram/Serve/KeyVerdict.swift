import TomboloCore

/// A push to a token that no phone has. Apple's answer shows whether key, team, environment, topic
/// and clock are right.
enum KeyProbe {
    static let token = String(repeating: "0", count: 64)
    static let body = Array(#"{"aps":{}}"#.utf8)
}

/// What the answer to a `KeyProbe` says about an app's key (Apple, *Handling notification responses
/// from APNs*).
enum KeyVerdict: Hashable, Sendable {
    /// Apple accepts the key and the topic.
    case taken(String)
    /// Apple refuses the key or the topic. Trying again would not help.
    case refused(String, fix: String)
    /// The answer says nothing about the key: Apple fails, throttles, or cannot be reached.
    case unanswered(String)

    /// - Parameter app: the app for which the push was signed and addressed.
    init(_ result: PushResult, _ app: Configuration.App) {
        switch result {
        case .accepted: self.init(status: 200, reason: "", app)
        case .rejected(let status, let reason, _, _):
            self.init(status: status, reason: reason, app)
        case .notSent(let reason), .unknown(let reason): self = .unanswered(reason)
        }
    }

    init(status: Int, reason: String, _ app: Configuration.App) {
        let key = "key \(app.keyID) of team \(app.teamID)"
        let answer = "\(status) \(reason)"
        switch (status, reason) {
        case (200, _), (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"), (410, _):
            self = .taken("\(key) and topic are taken in \(app.environment.name)")
        case (_, "InvalidProviderToken"), (_, "MissingProviderToken"), (_, "Forbidden"):
            self = .refused(
                "\(answer): Apple does not know \(key), or the .p8 is another key's",
                fix: "compare key_id and team_id with Apple's account page; key_id is in the "
                    + "name of AuthKey_….p8")
        case (_, "ExpiredProviderToken"):
            self = .refused(
                "\(answer): this machine's clock is more than an hour off",
                fix: "timedatectl set-ntp true")
        case (_, "TooManyProviderTokenUpdates"):
            self = .refused(
                "\(answer): another process mints tokens with this key, or the clock jumps",
                fix: "let one relay use the key; run tombolo doctor again in 20 minutes")
        case (_, "BadEnvironmentKeyIdInToken"), (_, "BadEnvironmentKeyInToken"),
            (_, "BadCertificateEnvironment"):
            self = .refused(
                "\(answer): \(key) is not for \(app.environment.name)",
                fix: "set \"environment\" to the key's, or make a key for this one")
        case (_, "UnrelatedKeyIdInToken"), (_, "TopicDisallowed"), (_, "BadTopic"):
            self = .refused(
                "\(answer): \(key) may not push to \(app.id)",
                fix: "\"id\" is the bundle id without a suffix; see the key's topics")
        case (429, _), (500..., _):
            self = .unanswered("\(answer): the service is unwell or throttles")
        default:
            self = .refused(
                answer, fix: "look the reason up: /problems/ of the relay, and Apple's page")
        }
    }
}
