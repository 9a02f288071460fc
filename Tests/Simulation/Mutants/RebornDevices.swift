import TomboloCore

/// Devices that a mutant takes for others after a deletion: nothing of before is known of them.
struct RebornDevices {
    private var deletions: [DeviceKey: Int] = [:]
    /// The device behind the name that the relay is told.
    private var named: [DeviceKey: DeviceKey] = [:]
    private var tokens: [String: String] = [:]

    mutating func delete(_ key: DeviceKey) { deletions[named[key] ?? key, default: 0] += 1 }

    /// What the relay is told that a device is called.
    mutating func id(of key: DeviceKey) -> Identifier {
        guard let count = deletions[key] else { return key.id }
        let id = Plan.identifier("\(key.id.rawValue)-\(count)")
        named[DeviceKey(tenant: key.tenant, id: id)] = key
        return id
    }

    /// What the relay is told that a token is.
    mutating func token(_ token: String, of key: DeviceKey) -> String {
        guard let count = deletions[named[key] ?? key] else { return token }
        let other = token + Phone.hex(UInt64(count), digits: 4)
        tokens[other] = token
        return other
    }

    /// The token that a push is for.
    func given(_ token: String) -> String { tokens[token] ?? token }
}
