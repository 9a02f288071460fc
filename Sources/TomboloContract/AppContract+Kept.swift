import TomboloJSON

/// Saves and restores the contract's state, so that a relaunch of the app forgets nothing.
extension AppContract {
    /// The state to write to a file, as JSON. It contains tokens: protect the file until first
    /// unlock (`FileProtectionType.completeUntilFirstUserAuthentication`).
    public var kept: [UInt8] {
        JSONWriter.objectBytes { writer in
            writer.member("device", device)
            if let user { writer.member("user", user) }
            if isSignedOut { writer.member("signed_out", true) }
            if queue.isDeviceKnown { writer.member("registered", true) }
            writer.array("tokens") { writer in
                for (name, token) in tokens.sorted(by: { $0.key < $1.key }) {
                    writer.object { writer in
                        writer.member("name", name)
                        token.keep(to: &writer)
                    }
                }
            }
            writer.array("cards", of: cards) { $1.keep(to: &$0) }
            writer.array("leaving", of: leaving.sorted()) { $0.string($1) }
            writer.named("queue") { queue.keep(to: &$0) }
        }
    }

    /// Restores the state from a value of `kept`. If it cannot be read, or is another device's, it
    /// is ignored: the launch reads all tokens and cards again.
    mutating func restore(_ kept: [UInt8]) {
        // It does not matter why the file cannot be read.
        guard let root = (try? JSONDocument(kept))?.root else { return }
        // A backup that was restored to another phone has the tokens of the first one.
        if let other = root["device"]?.string, other != device { return }
        user = root["user"]?.string
        for view in Self.elements(root["tokens"]) {
            guard let name = view["name"]?.string, let token = Token(kept: view) else { continue }
            tokens[name] = token
        }
        for view in Self.elements(root["cards"]).suffix(Self.cardsMax) {
            guard let id = view["id"]?.string else { continue }
            cards.append(
                Card(
                    id: id, name: view["name"]?.string, token: Token(kept: view),
                    isOver: view["over"]?.bool ?? false))
        }
        leaving = Set(Self.elements(root["leaving"]).compactMap(\.string))
        queue.isDeviceKnown = root["registered"]?.bool ?? false
        isSignedOut = root["signed_out"]?.bool ?? false
        if isSignedOut { queue.signOut() }
        queue.restore(root["queue"], at: .zero)
    }

    private static func elements(_ view: JSONView?) -> [JSONView] {
        view.map { Array($0.elements) } ?? []
    }
}

extension AppContract.Token {
    fileprivate func keep(to writer: inout JSONWriter) {
        writer.member("token", text)
        writer.member("observed_at", observedAt)
    }

    fileprivate init?(kept view: JSONView) {
        guard let text = view["token"]?.string, let time = view["observed_at"]?.string else {
            return nil
        }
        self.init(text: text, observedAt: time)
    }

    /// The token as the body of `PUT /v1/devices/ID/tokens/NAME`.
    var body: [UInt8] {
        JSONWriter.objectBytes { body in
            keep(to: &body)
        }
    }
}

extension AppContract.Card {
    fileprivate func keep(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", id)
            if let name { writer.member("name", name) }
            if isOver { writer.member("over", true) }
            token?.keep(to: &writer)
        }
    }
}
