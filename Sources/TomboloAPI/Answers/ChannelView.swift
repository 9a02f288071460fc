package import TomboloCore
package import TomboloJSON

/// A channel as readers see it.
package struct ChannelView: Sendable {
    private let channel: Channel
    /// The running activity that uses the channel; nil if there is none.
    private let activity: Identifier?
    /// True if the channel exists at Apple; nil if Apple was not asked.
    package var isRegistered: Bool?

    package init(_ channel: Channel, activity: Identifier?) {
        self.channel = channel
        self.activity = activity
    }

    /// Writes the channel as one object.
    ///
    /// - Parameter isDryRun: true for a dry run. Then a new channel has no id and no age.
    package func write(to writer: inout JSONWriter, isDryRun: Bool = false) {
        let isThere = !channel.id.isEmpty
        writer.object { writer in
            if isDryRun { writer.member("dry_run", true) }
            writer.member("channel", channel.label.rawValue)
            if isThere { writer.member("id", channel.id) }
            writer.member("app", channel.app)
            writer.member("environment", channel.environment.name)
            writer.member("storage", channel.storage.name)
            if isThere { writer.member("created_at", channel.createdAt.rfc3339) }
            writer.optional("activity", activity?.rawValue)
            if let isRegistered { writer.member("registered", isRegistered) }
        }
    }
}

/// How many channels an app has at Apple, and how many it may have.
package struct ChannelQuota: Sendable {
    /// Apple's limit for one app in one environment.
    package static let countMax = 10_000

    private let app: String
    private let environment: APNsEnvironment
    /// Number of channels that this relay has made: named ones, and those of private cards.
    package var own = 0
    /// Number of all the app's channels at Apple; nil if Apple could not be asked.
    package var used: Int?
    /// Channels at Apple that this relay does not know.
    package var unknown: [String] = []

    package init(app: String, environment: APNsEnvironment) {
        self.app = app
        self.environment = environment
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("app", app)
            writer.member("environment", environment.name)
            writer.member("own", Int64(own))
            writer.nullable("used", used)
            writer.member("limit", Int64(Self.countMax))
            writer.array("unknown", of: unknown) { $0.string($1) }
        }
    }
}

/// A tenant's channels.
package struct ChannelPage: AnswerObject, Sendable {
    package var channels: [ChannelView]
    package var apps: [ChannelQuota] = []

    package init(channels: [ChannelView]) { self.channels = channels }

    /// Writes the channels as one object.
    package func write(membersTo writer: inout JSONWriter) {
        writer.array("channels", of: channels) { $1.write(to: &$0) }
        writer.array("apps", of: apps) { $1.write(to: &$0) }
    }
}

extension Problem {
    /// The problem that reports a failed request to Apple's channel service.
    package init(_ failure: ChannelFailure) {
        switch failure {
        case .refused(let status, let reason):
            self.init(.apnsRefused, "Apple answered \(status) \(reason).")
            self = adding("apns_status", Int64(status)).adding("apns_reason", reason)
        case .unreachable(let why):
            self.init(.apnsUnreachable, "Apple's channel service cannot be reached: \(why).")
        case .unknown(let why):
            self.init(
                .apnsUnreachable,
                "Whether Apple did it is not known: \(why). Ask again: GET /v1/channels tells.")
        }
    }
}
