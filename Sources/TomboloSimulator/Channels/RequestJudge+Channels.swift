import TomboloCrypto
import TomboloJSON

/// Checks requests for channels and broadcasts. Provider tokens are the same as for pushes; paths,
/// headers and reasons differ.
extension RequestJudge {
    /// Maximum size of a broadcast's body in bytes. A push to a device may have only 4 KB.
    package static let broadcastBytesMax = 5_120
    /// Maximum length of a channel id that is read. Apple says "Don't make assumptions on the
    /// channel ID size".
    private static let channelIDBytesMax = 256

    /// True if a path belongs to the channel or broadcast API.
    static func isOfChannels(_ path: String) -> Bool {
        path.hasPrefix("/1/apps/") || path.hasPrefix("/4/broadcasts/")
    }

    /// Checks one request. `freshID` makes an id, as for a push; `freshChannel` returns 16 random
    /// bytes.
    package mutating func judgeChannel(
        _ request: PushRequest, on connection: inout GatewayConnection, at now: WallInstant,
        freshID: () -> String, freshChannel: () -> [UInt8]
    ) -> ChannelAnswer {
        let givenID = request.value("apns-request-id")
        let isGood = givenID.map(Self.isCanonicalUUID) ?? false
        let requestID = isGood ? givenID ?? "" : freshID()
        do throws(ChannelRefusal) {
            if givenID != nil, !isGood { throw ChannelRefusal(.badMessageID) }
            var answer = try answer(request, on: &connection, at: now, freshChannel)
            connection.hasAcceptedRequest = true
            answer.requestID = requestID
            answer.broadcast?.requestID = requestID
            return answer
        } catch {
            let body = JSON.object { $0.member("reason", error.reason.rawValue) }
            return ChannelAnswer(
                status: error.reason.status, requestID: requestID, body: body.bytes)
        }
    }

    private mutating func answer(
        _ request: PushRequest, on connection: inout GatewayConnection, at now: WallInstant,
        _ freshChannel: () -> [UInt8]
    ) throws(ChannelRefusal) -> ChannelAnswer {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        let isBroadcast = parts.count == 5 && parts[1] == "4" && parts[3] == "apps"
        let isChannel = parts.count == 5 && parts[1] == "1" && parts[4] == "channels"
        let isList = parts.count == 5 && parts[1] == "1" && parts[4] == "all-channels"
        guard isBroadcast || isChannel || isList else { throw ChannelRefusal(.badPath) }
        let methods = isBroadcast ? ["POST"] : isList ? ["GET"] : ["POST", "GET", "DELETE"]
        guard methods.contains(request.method) else { throw ChannelRefusal(.methodNotAllowed) }
        let key: ProviderKey
        do throws(Refusal) {
            try checkRepetitions(request)
            key = try authorize(request, on: &connection, at: now)
        } catch {
            throw ChannelRefusal(error)
        }
        let bundleID = try app(String(isBroadcast ? parts[4] : parts[3]), key)
        if isBroadcast { return try broadcast(request, bundleID, at: now) }
        if isList { return list(bundleID) }
        switch request.method {
        case "POST": return try create(request, bundleID, freshChannel)
        case "GET":
            let (_, policy) = try channel(of: request, bundleID)
            return ChannelAnswer(status: 200, requestID: "", body: Self.body(policy))
        default:
            let (id, _) = try channel(of: request, bundleID)
            _ = channels.delete(id, of: bundleID)
            return ChannelAnswer(status: 204, requestID: "")
        }
    }

    /// Checks that the text is a registered bundle id without a suffix, and that the key is for it.
    private func app(_ text: String, _ key: ProviderKey) throws(ChannelRefusal) -> String {
        guard rules.bundleIDs.contains(text) else {
            let isSuffixed = rules.bundleIDs.contains { text.hasPrefix($0 + ".") }
            throw ChannelRefusal(isSuffixed ? .topicDisallowed : .topicMismatch)
        }
        if let covered = key.bundleIDs, !covered.contains(text) {
            throw ChannelRefusal(.topicMismatch)
        }
        guard rules.broadcasts else { throw ChannelRefusal(.featureNotEnabled) }
        return text
    }

    private func channel(
        of request: PushRequest, _ bundleID: String
    ) throws(ChannelRefusal) -> (String, ChannelRegistry.StoragePolicy) {
        guard let id = request.value("apns-channel-id"), !id.isEmpty else {
            throw ChannelRefusal(.missingChannelID)
        }
        guard id.utf8.count <= Self.channelIDBytesMax, Base64.decode(id) != nil else {
            throw ChannelRefusal(.badChannelID)
        }
        guard let policy = channels[id, of: bundleID] else {
            throw ChannelRefusal(.channelNotRegistered)
        }
        return (id, policy)
    }

    private mutating func create(
        _ request: PushRequest, _ bundleID: String, _ freshChannel: () -> [UInt8]
    ) throws(ChannelRefusal) -> ChannelAnswer {
        guard !request.body.isEmpty else { throw ChannelRefusal(.payloadEmpty) }
        // Apple gives the same reason for every parse error, so the error is dropped.
        guard let view = (try? JSONDocument(request.body))?.root, view.kind == .object else {
            throw ChannelRefusal(.badRequestPayload)
        }
        let known: Set<String> = ["message-storage-policy", "push-type"]
        guard view.members.allSatisfy({ known.contains($0.name) }) else {
            throw ChannelRefusal(.badRequestParams)
        }
        guard let type = view["push-type"]?.string else { throw ChannelRefusal(.missingPushType) }
        guard type.lowercased() == "liveactivity" else { throw ChannelRefusal(.invalidPushType) }
        let number = view["message-storage-policy"]?.integer ?? 0
        guard let policy = ChannelRegistry.StoragePolicy(rawValue: number) else {
            throw ChannelRefusal(.badRequestParams)
        }
        let id = Base64.encode(freshChannel())
        guard channels.create(id, of: bundleID, policy) else {
            throw ChannelRefusal(.cannotCreateChannelConfig)
        }
        return ChannelAnswer(status: 201, requestID: "", channelID: id)
    }

    private func broadcast(
        _ request: PushRequest, _ bundleID: String, at now: WallInstant
    ) throws(ChannelRefusal) -> ChannelAnswer {
        let (id, policy) = try channel(of: request, bundleID)
        guard let type = request.value("apns-push-type") else {
            throw ChannelRefusal(.missingPushType)
        }
        guard type.lowercased() == "liveactivity" else { throw ChannelRefusal(.invalidPushType) }
        guard let priority = request.value("apns-priority").flatMap(Self.priority),
            priority == 5 || priority == 10
        else { throw ChannelRefusal(.badPriority) }
        guard let expiration = request.value("apns-expiration").flatMap({ Int64($0) }),
            expiration == 0 || expiration > 0 && policy == .mostRecent
        else { throw ChannelRefusal(.badExpirationDate) }
        guard !request.body.isEmpty else { throw ChannelRefusal(.payloadEmpty) }
        guard request.body.count <= Self.broadcastBytesMax else {
            throw ChannelRefusal(.payloadTooLarge)
        }
        // Apple gives the same reason for every parse error, so the error is dropped.
        guard (try? JSONDocument(request.body))?.root.kind == .object else {
            throw ChannelRefusal(.badRequestPayload)
        }
        return ChannelAnswer(
            status: 200, requestID: "",
            broadcast: AcceptedBroadcast(
                channelID: id, bundleID: bundleID, priority: priority, payload: request.body,
                requestID: "", isStored: policy == .mostRecent && expiration > 0,
                expiration: expiration == 0 ? .immediate : .until(expiration), acceptedAt: now))
    }

    private func list(_ bundleID: String) -> ChannelAnswer {
        let body = JSON.object { body in
            body.array("channels", of: channels.all(of: bundleID)) { $0.string($1) }
        }
        return ChannelAnswer(status: 200, requestID: "", body: body.bytes)
    }

    private static func body(_ policy: ChannelRegistry.StoragePolicy) -> [UInt8] {
        JSONWriter.objectBytes { body in
            body.member("message-storage-policy", policy.rawValue)
            body.member("push-type", "LiveActivity")
        }
    }
}
