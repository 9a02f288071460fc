/// A device's tokens by name, in order of arrival. Compact, because there are many devices.
struct TokenTable: Sendable {
    /// A name and its token, with members in an order without padding.
    private struct Entry {
        let name: TokenName
        private var isOnRecord: Bool
        private var value: PushToken
        private var registeredAt: Instant
        private var observedAt: Instant

        init(_ name: TokenName, _ token: Device.Token) {
            self.name = name
            isOnRecord = token.isOnRecord
            value = token.value
            registeredAt = token.registeredAt
            observedAt = token.observedAt
        }

        var token: Device.Token {
            Device.Token(
                value: value, registeredAt: registeredAt, observedAt: observedAt,
                isOnRecord: isOnRecord)
        }
    }

    private var entries: [Entry] = []

    init() {}

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    var names: [TokenName] { entries.map(\.name) }

    /// All tokens.
    var all: [(name: TokenName, token: Device.Token)] { entries.map { ($0.name, $0.token) } }

    subscript(name: TokenName) -> Device.Token? {
        get { entries.first { $0.name == name }?.token }
        set {
            let place = entries.firstIndex { $0.name == name }
            switch (place, newValue) {
            case (let place?, let token?): entries[place] = Entry(name, token)
            case (let place?, nil): entries.remove(at: place)
            case (nil, let token?): entries.append(Entry(name, token))
            case (nil, nil): break
            }
        }
    }

    /// Removes a token and returns it.
    mutating func remove(_ name: TokenName) -> Device.Token? {
        let token = self[name]
        self[name] = nil
        return token
    }
}
