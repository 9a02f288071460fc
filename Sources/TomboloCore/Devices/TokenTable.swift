/// A device's tokens by name, in order of arrival. The table is compact, because there are many
/// devices.
struct TokenTable: Sendable {
    /// A name and its token. The order of the members avoids padding.
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

    mutating func remove(_ name: TokenName) -> Device.Token? {
        let token = self[name]
        self[name] = nil
        return token
    }
}
