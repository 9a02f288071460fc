package import TomboloJSON

/// A broadcast channel of APNs (iOS 18 and later): one push reaches every card that listens on it.
///
/// Either a producer has named it, or the relay made it for the cards of one activity at a time. In
/// memory it has a slot in the device table, as the target of a destination.
package struct Channel: Hashable, Sendable {
    /// What the channel stores for phones that are offline; it cannot be changed.
    package enum Storage: UInt8, Hashable, Sendable {
        /// Nothing: allows a larger budget, and no expiration but 0.
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
    /// For the relay's own channel: the activity whose cards listen.
    var activity: ActivityNumber?
    /// For the relay's own channel: until then, cards of the former activity may still listen.
    var restsUntil = Instant.distantPast
    /// True after Apple has answered that it does not know the channel.
    package internal(set) var isGone = false
    /// True while Apple is to delete it, also after a restart: no activity may start on it.
    package internal(set) var isBeingDeleted = false

    /// Makes a value for a channel that Apple has made.
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
        var writer = JSONWriter()
        writer.beginObject()
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
        writer.endObject()
        return Record(space: .channel, number: number, value: writer.bytes)
    }

    /// Nil if the bytes are no channel: then the caller reports it and sets it aside.
    init?(record bytes: [UInt8], number: Int64) {
        guard let view = (try? JSONDocument(bytes))?.root,  // damage is the answer
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
        restsUntil = Instant(nanoseconds: view["rests"]?.integer ?? 0)
        isGone = view["gone"] != nil
        isBeingDeleted = view["deleting"] != nil
    }

    /// Its name; a generated one for the relay's own channels.
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

    /// Reads the body of `PUT /v1/channels/{name}`. Throws all faults.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        app = reader.string("app")
        environment = APNsEnvironment.reading("environment", &reader)
        storage = reader.choice("storage", Channel.Storage.choices) ?? .mostRecent
        try reader.finish()
    }
}

/// Changes of channels. Except for `deleting`, Apple has already carried them out.
package enum ChannelCommand: Sendable {
    /// A channel was made, for a producer or for the pool.
    case made(Channel)
    /// The upstream's pool gets no channel: Apple refused or could not be reached.
    case notMade(UpstreamNumber)
    /// Apple will be asked to delete it: no activity may start on it any more.
    case deleting(ChannelKey)
    /// Apple did not delete it: it is usable again.
    case kept(ChannelKey)
    /// Apple has deleted it.
    case deleted(ChannelKey)
}

/// Why Apple did not carry out a channel request.
package enum ChannelFailure: Error, Hashable, Sendable {
    /// Apple's answer.
    case refused(status: Int, reason: String)
    /// The request certainly did not reach Apple.
    case unreachable(String)
    /// Unknown whether Apple carried it out.
    case unknown(String)
}
