/// The broadcast channels of all apps (Apple, *Sending channel management requests to APNs*).
package struct ChannelRegistry: Sendable {
    /// What a channel stores for phones that cannot be reached. It cannot be changed later.
    package enum StoragePolicy: Int64, Hashable, Sendable {
        case nothing = 0
        case mostRecent = 1
    }

    private var channels: [String: [String: StoragePolicy]] = [:]
    private var created: [String: [String]] = [:]

    /// Maximum number of channels of one app in one environment.
    package static let channelsMax = 10_000

    package init() {}

    /// Creates a channel. Returns false if the app has `channelsMax` already.
    mutating func create(_ id: String, of bundleID: String, _ policy: StoragePolicy) -> Bool {
        guard channels[bundleID, default: [:]].count < Self.channelsMax else { return false }
        channels[bundleID, default: [:]][id] = policy
        created[bundleID, default: []].append(id)
        return true
    }

    /// Deletes a channel permanently: its id is never used again. Returns true if it existed.
    mutating func delete(_ id: String, of bundleID: String) -> Bool {
        guard channels[bundleID]?.removeValue(forKey: id) != nil else { return false }
        created[bundleID]?.removeAll { $0 == id }
        return true
    }

    subscript(_ id: String, of bundleID: String) -> StoragePolicy? { channels[bundleID]?[id] }

    /// The app's channels in the order of their creation.
    func all(of bundleID: String) -> [String] { created[bundleID] ?? [] }
}

/// A broadcast that the gateway accepted.
package struct AcceptedBroadcast: Hashable, Sendable {
    package var channelID: String
    package var bundleID: String
    package var priority: Int
    package var payload: [UInt8]
    package var requestID: String
    /// True if the channel keeps the broadcast for phones that cannot be reached, until
    /// `expiration`.
    package var isStored = false
    package var expiration = PushExpiration.immediate
    package var acceptedAt = WallInstant(seconds: 0)
}

/// The answer to one request of the channel or broadcast API.
package struct ChannelAnswer: Sendable {
    package var status: Int
    /// The request's `apns-request-id` if it is a canonical UUID, else a new one.
    package var requestID: String
    /// Id of the created channel; nil for other requests.
    package var channelID: String?
    package var body: [UInt8] = []
    package var broadcast: AcceptedBroadcast?
}
