import TomboloJSON

/// Checks headers, path and topic of a request (Apple, *Sending notification requests to APNs*).
extension RequestJudge {
    /// Refuses repeated headers. HTTP/2 allows only `cookie` to be split (RFC 9113 8.2.3).
    func checkRepetitions(_ request: PushRequest) throws(Refusal) {
        let fields = request.fields
        for index in fields.indices.dropFirst() where fields[index].name != "cookie" {
            if fields[..<index].contains(where: { $0.name == fields[index].name }) {
                throw Refusal(.duplicateHeaders)
            }
        }
    }

    /// The token of `/3/device/<token>` in lower case; its format is checked later.
    func deviceToken(inPath path: String) throws(Refusal) -> String {
        let prefix = "/3/device/"
        if path == "/3/device" { throw Refusal(.missingDeviceToken) }
        guard path.hasPrefix(prefix) else { throw Refusal(.badPath) }
        let token = path.dropFirst(prefix.count)
        guard !token.isEmpty else { throw Refusal(.missingDeviceToken) }
        guard !token.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") })
        else { throw Refusal(.badPath) }
        return token.lowercased()
    }

    /// The topic: a registered bundle id followed by one known suffix or none.
    func topic(of request: PushRequest, key: ProviderKey) throws(Refusal) -> PushTopic {
        guard let text = request.value("apns-topic"), !text.isEmpty else {
            throw Refusal(.missingTopic)
        }
        guard text.utf8.allSatisfy(Self.isTopicByte) else { throw Refusal(.badTopic) }
        for bundleID in rules.bundleIDs where text.hasPrefix(bundleID) {
            let suffix = String(text.dropFirst(bundleID.count))
            guard PushType.allCases.contains(where: { $0.topicSuffix == suffix }) else { continue }
            if let allowed = key.bundleIDs, !allowed.contains(bundleID) { continue }
            return PushTopic(bundleID: bundleID, suffix: suffix)
        }
        throw Refusal(.topicDisallowed)
    }

    func collapseID(of request: PushRequest) throws(Refusal) -> String? {
        let id = request.value("apns-collapse-id")
        guard (id?.utf8.count ?? 0) <= GatewayRules.collapseIDBytesMax else {
            throw Refusal(.badCollapseID)
        }
        return id
    }

    /// Returns the push type. It must match the topic. If the header is missing, a topic without a
    /// suffix means `alert`, and a topic with a suffix is refused.
    func pushType(of request: PushRequest, topic: PushTopic) throws(Refusal) -> PushType {
        guard let text = request.value("apns-push-type") else {
            guard topic.suffix.isEmpty else { throw Refusal(.invalidPushType) }
            return .alert
        }
        guard let type = PushType(rawValue: text) else { throw Refusal(.invalidPushType) }
        guard type.topicSuffix == topic.suffix else { throw Refusal(.badTopic) }
        return type
    }

    func priority(of request: PushRequest, type: PushType) throws(Refusal) -> Int {
        guard let priority = Self.priority(request.value("apns-priority") ?? "10"),
            type.allows(priority: priority)
        else { throw Refusal(.badPriority) }
        return priority
    }

    /// Parses a priority: exactly `10`, `5` or `1`. Nil for other spellings such as `010` and `+5`.
    static func priority(_ text: String) -> Int? {
        [10, 5, 1].first { "\($0)" == text }
    }

    func expiration(of request: PushRequest) throws(Refusal) -> PushExpiration {
        guard let text = request.value("apns-expiration") else { return .absent }
        guard let second = Self.number(text) else { throw Refusal(.badExpirationDate) }
        return second == 0 ? .immediate : .until(second)
    }

    /// True if the text is 8-4-4-4-12 lower-case hex digits.
    static func isCanonicalUUID(_ text: String) -> Bool {
        guard text.utf8.count == 36 else { return false }
        return text.utf8.enumerated().allSatisfy { index, byte in
            switch index {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default: isLowerHex(byte)
            }
        }
    }

    static func isLowerHex(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static func isTopicByte(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || ".-".utf8.contains(byte)
    }

    /// Parses decimal digits only: no sign, no space, no fraction.
    private static func number(_ text: String) -> Int64? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard text.utf8.allSatisfy({ digits.contains($0) }) else { return nil }
        return Int64(text)
    }
}
