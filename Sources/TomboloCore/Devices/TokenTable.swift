/// A device's tokens by their names: few, and there are many devices. They stand in the order in
/// which they came.
struct TokenTable: Sendable {
    private var entries: [(name: TokenName, token: Device.Token)] = []

    init() {}

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    var names: [TokenName] { entries.map(\.name) }

    /// All of them.
    var all: [(name: TokenName, token: Device.Token)] { entries }

    subscript(name: TokenName) -> Device.Token? {
        get { entries.first { $0.name == name }?.token }
        set {
            let place = entries.firstIndex { $0.name == name }
            switch (place, newValue) {
            case (let place?, let token?): entries[place].token = token
            case (let place?, nil): entries.remove(at: place)
            case (nil, let token?): entries.append((name, token))
            case (nil, nil): break
            }
        }
    }

    /// Takes one out, and answers it.
    mutating func remove(_ name: TokenName) -> Device.Token? {
        let token = self[name]
        self[name] = nil
        return token
    }
}
