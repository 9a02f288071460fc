import TomboloJSON

/// Whom a push is for, and what it carries.
extension RequestJudge {
    /// Any even-length hex string may be a token ("Don't make assumptions about device token
    /// size"); only those issued for this environment are.
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

    /// A JSON object of at least one byte and at most the type's limit; what does not parse counts
    /// as empty, for it says nothing. Whether its `aps` makes sense is the phone's affair.
    func payload(of request: PushRequest, type: PushType) throws(Refusal) -> JSONDocument {
        let body = request.body
        guard !body.isEmpty else { throw Refusal(.payloadEmpty) }
        guard body.count <= type.payloadBytesMax else { throw Refusal(.payloadTooLarge) }
        // Where the fault lies does not matter: Apple has one reason for all of it.
        guard let document = try? JSONDocument(body), document.root.kind == .object else {
            throw Refusal(.payloadEmpty)
        }
        return document
    }
}
