import TomboloJSON

/// Checks the device token and the payload of a push.
extension RequestJudge {
    /// Any even-length hex string may be a token ("Don't make assumptions about device token
    /// size"); only tokens issued for this environment are accepted.
    func checkDeviceToken(_ token: String, topic: PushTopic) throws(Refusal) {
        guard token.utf8.count.isMultiple(of: 2), token.utf8.allSatisfy(Self.isLowerHex) else {
            throw Refusal(.badDeviceToken)
        }
        guard let entry = tokens.entry(token) else {
            if rules.acceptsAnyToken { return }
            throw Refusal(.badDeviceToken)
        }
        guard entry.environment == rules.environment else { throw Refusal(.badDeviceToken) }
        guard entry.topic == topic else { throw Refusal(.deviceTokenNotForTopic) }
        if let retirement = entry.retirement { throw retirement }
    }

    /// The payload: a JSON object of at most the type's limit. An empty or unparsable payload is
    /// refused as `payloadEmpty`. The phone checks the content of `aps`.
    func payload(of request: PushRequest, type: PushType) throws(Refusal) -> JSONDocument {
        let body = request.body
        guard !body.isEmpty else { throw Refusal(.payloadEmpty) }
        guard body.count <= type.payloadBytesMax else { throw Refusal(.payloadTooLarge) }
        // The location of an error is not needed: Apple has one reason for every error.
        guard let document = try? JSONDocument(body), document.root.kind == .object else {
            throw Refusal(.payloadEmpty)
        }
        return document
    }
}
