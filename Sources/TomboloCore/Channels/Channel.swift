package import TomboloJSON

/// A broadcast channel of APNs (iOS 18 and later): one push reaches every card that listens on it.
///
/// Either a producer has named it, or it is one of the relay's own, for the cards of one activity
/// at a time. In memory it stands among the devices, as what a destination leads to.
package struct Channel: Hashable, Sendable {
    /// What the channel keeps for phones that cannot be reached; it never changes.
    package enum Storage: UInt8, Hashable, Sendable {
        /// Nothing: a larger budget, and no expiration but 0.
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
    /// As producers name it; nil for one of the relay's own.
    package let name: Identifier?
    /// Apple's, in base64: what an app subscribes to.
    package let id: String
    package let storage: Storage
    package internal(set) var createdAt: Instant
    /// Of one of the relay's own: the activity whose cards listen.
    var activity: ActivityNumber?
    /// Of one of the relay's own: until then cards of the activity before may be there.
    var restsUntil = Instant.distantPast
    /// Apple has said that it does not know it.
    package internal(set) var isGone = false
    /// Apple is asked to delete it, or was when the relay stopped: nothing starts on it.
    package internal(set) var isBeingDeleted = false

    /// A channel that Apple has made.
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

    /// Nil where the bytes are no channel: the caller reports and sets aside.
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

    /// A name for those of the relay's own, where one must stand.
    package var label: Identifier {
        guard let label = name ?? Identifier("channel-\(number)") else {
            preconditionFailure("a number makes an identifier")
        }
        return label
    }
}

/// A channel as producers name it.
package struct ChannelKey: Hashable, Sendable {
    package var tenant: TenantID
    package var name: Identifier

    package init(tenant: TenantID, name: Identifier) {
        self.tenant = tenant
        self.name = name
    }
}

/// What a producer says of a channel that it wants.
package struct ChannelRequest: Hashable, Sendable {
    package var app: String?
    package var environment: APNsEnvironment?
    package var storage: Channel.Storage

    /// Reads the body of `PUT /v1/channels/{name}`; throws every fault it finds.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        app = reader.string("app")
        environment = APNsEnvironment.reading("environment", &reader)
        storage = reader.choice("storage", Channel.Storage.choices) ?? .mostRecent
        try reader.finish()
    }
}

/// What becomes of channels; but for `deleting`, what Apple had to do is done.
package enum ChannelCommand: Sendable {
    /// It was made, for a producer or for the pool.
    case made(Channel)
    /// The lane's pool gets none: Apple refuses, or cannot be asked.
    case notMade(LaneNumber)
    /// Apple is asked to delete it next: from now on nothing starts on it.
    case deleting(ChannelKey)
    /// Apple has not deleted it: it serves again.
    case kept(ChannelKey)
    /// It is no more.
    case deleted(ChannelKey)
}

/// Why Apple did not do what it was asked with a channel.
package enum ChannelFailure: Error, Hashable, Sendable {
    /// Apple's word.
    case refused(status: Int, reason: String)
    /// It was surely not asked.
    case unreachable(String)
    /// It may have been done or not.
    case unknown(String)
}
