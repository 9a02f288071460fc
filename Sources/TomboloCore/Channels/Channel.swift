package import TomboloJSON

/// A broadcast channel of APNs (iOS 18 and later): one push reaches every card that listens on it.
///
/// It is either a producer's named channel, or one of the relay's own, which serves one activity at
/// a time. In memory it is in the device table, because destinations push to it as to a device.
package struct Channel: Hashable, Sendable {
    /// What the channel stores for phones that are offline; it cannot be changed.
    package enum Storage: UInt8, Hashable, Sendable {
        /// Nothing. Apple then allows a larger budget, but no expiration except 0.
        case nothing = 0
        /// The most recent message, for up to 8 hours.
        case mostRecent = 1

        static let choices: [(String, Storage)] = [
            ("none", .nothing), ("most_recent", .mostRecent),
        ]

        package var name: String { Self.choices[Int(rawValue)].0 }
    }

    package internal(set) var number: Int64
    package let tenant: TenantID
    package let app: String
    package let environment: APNsEnvironment
    /// The producer's name for it; nil for a channel of the relay's own.
    package let name: Identifier?
    /// Apple's id in base64, to which an app subscribes.
    package let id: String
    package let storage: Storage
    package internal(set) var createdAt: Instant
    /// For a channel of the relay's own: the activity whose cards listen on it.
    var activity: ActivityNumber?
    /// For a channel of the relay's own: cards of its former activity may listen until then.
    var restsUntil = Instant.distantPast
    /// True after Apple has answered that it does not know the channel.
    package internal(set) var isGone = false
    /// True while Apple is asked to delete the channel, even across a restart. Meanwhile no
    /// activity may start on it.
    package internal(set) var isBeingDeleted = false

    /// Describes a channel that Apple has created.
    package init(
        tenant: TenantID, app: String, environment: APNsEnvironment, name: Identifier?, id: String,
        storage: Storage
    ) {
        number = 0
        self.tenant = tenant
        self.app = app
        self.environment = environment
        self.name = name
        self.id = id
        self.storage = storage
        createdAt = .distantPast
    }

    func record() -> Record {
        Record(space: .channel, number: number) { writer in
            writer.member("tenant", tenant.name.rawValue)
            writer.member("app", app)
            writer.member("environment", environment.name)
            if let name { writer.member("name", name.rawValue) }
            writer.member("id", id)
            writer.member("storage", Int64(storage.rawValue))
            writer.member("created", createdAt.nanoseconds)
            if let activity { writer.member("activity", activity.rawValue) }
            if restsUntil != .distantPast { writer.member("rests", restsUntil.nanoseconds) }
            if isGone { writer.member("gone", true) }
            if isBeingDeleted { writer.member("deleting", true) }
        }
    }

    /// Returns nil if the bytes are not a valid channel. The caller then reports the record.
    init?(record bytes: [UInt8], number: Int64) {
        guard let view = (try? JSONDocument(bytes))?.root,  // nil reports damage
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let app = view["app"]?.string, let id = view["id"]?.string,
            let environment = view["environment"]?.string.flatMap(APNsEnvironment.init(name:)),
            let storage = view["storage"]?.integer.flatMap({
                Storage(rawValue: UInt8(clamping: $0))
            })
        else { return nil }
        self.init(
            tenant: TenantID(tenant), app: app, environment: environment,
            name: view["name"]?.string.flatMap(Identifier.init), id: id, storage: storage)
        self.number = number
        createdAt = Instant(nanoseconds: view["created"]?.integer ?? 0)
        activity = view["activity"]?.integer.map(ActivityNumber.init)
        restsUntil = view["rests"]?.integer.map(Instant.init(nanoseconds:)) ?? .distantPast
        isGone = view["gone"] != nil
        isBeingDeleted = view["deleting"] != nil
    }

    /// The producer's name of the channel, or a generated one for a channel of the relay's own.
    package var label: Identifier {
        guard let label = name ?? Identifier("channel-\(number)") else {
            preconditionFailure("a number makes an identifier")
        }
        return label
    }
}

/// The name of a channel and its tenant.
package struct ChannelKey: Hashable, Sendable {
    package var tenant: TenantID
    package var name: Identifier

    package init(tenant: TenantID, name: Identifier) {
        self.tenant = tenant
        self.name = name
    }
}

/// A producer's request for a channel.
package struct ChannelRequest: Hashable, Sendable {
    package var app: String?
    package var environment: APNsEnvironment?
    package var storage: Channel.Storage

    /// Reads the body of `PUT /v1/channels/{name}`. Throws `FieldErrors` with all faults.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        app = reader.string("app")
        environment = APNsEnvironment.reading("environment", &reader)
        storage = reader.choice("storage", Channel.Storage.choices) ?? .mostRecent
        try reader.finish()
    }
}

/// What happened to a channel: Apple's answers, and `deleting` before Apple is asked.
package enum ChannelCommand: Sendable {
    /// A channel was made, for a producer or for the pool.
    case made(Channel)
    /// The upstream's pool gets no new channel: Apple refused or could not be reached.
    case notMade(UpstreamNumber)
    /// Apple will be asked to delete the channel: no activity may start on it any more.
    case deleting(ChannelKey)
    /// Apple did not delete the channel: it is usable again.
    case kept(ChannelKey)
    /// Apple has deleted the channel.
    case deleted(ChannelKey)
}

/// Why Apple did not carry out a channel request.
package enum ChannelFailure: Error, Hashable, Sendable {
    case refused(status: Int, reason: String)
    /// The request certainly did not reach Apple.
    case unreachable(String)
    /// Unknown whether Apple carried it out.
    case unknown(String)
}
