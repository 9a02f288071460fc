import TomboloJSON

/// Checks the device token and the payload of a push.
extension RequestJudge {
    /// Any hex string of even length may be a token ("Don't make assumptions about device token
    /// size"), but only tokens issued for this environment are accepted.
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

    /// Returns the payload, a JSON object within the type's size limit. An empty payload, or one
    /// that is no JSON object, is refused as `payloadEmpty`. The phone checks the content of `aps`.
    func payload(of request: PushRequest, type: PushType) throws(Refusal) -> JSONDocument {
        let body = request.body
        guard !body.isEmpty else { throw Refusal(.payloadEmpty) }
        guard body.count <= type.payloadBytesMax else { throw Refusal(.payloadTooLarge) }
        // Apple gives the same reason for every parse error, so the error is dropped.
        guard let document = try? JSONDocument(body), document.root.kind == .object else {
            throw Refusal(.payloadEmpty)
        }
        return document
    }
}
