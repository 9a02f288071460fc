/// The activities in memory, the devices, the users and the types of a tenant whose ids begin with
/// a text, byte by byte. Nothing is sorted by id, so all slots are read, in pieces. What is added
/// or removed meanwhile may be found or not.
///
///     var search = PrefixSearch("order-", of: tenant)
///     while !search.isWhole { search.lookMore(at: core) }
///     let found = search.results(in: core)
package struct PrefixSearch: Sendable {
    /// Of each kind so many are found: the first ones by their bytes.
    package static let perKindMax = 8

    /// True after the last slot.
    package private(set) var isWhole = false
    private let tenant: TenantID
    private var activities: FirstNames
    private var devices: FirstNames
    private var users: FirstNames
    /// The next activity's slot, and after the activities the next device's.
    private var place = 0
    private var isAtDevices = false

    /// - Parameter prefix: the first characters of what is looked for.
    package init(_ prefix: String, of tenant: TenantID) {
        self.tenant = tenant
        let none = FirstNames(prefix: Array(prefix.utf8))
        (activities, devices, users) = (none, none, none)
    }

    /// Reads the next slots.
    package mutating func lookMore(at core: borrowing Core) {
        let count = isAtDevices ? core.devices.count : core.activities.count
        let end = min(count, place + IDPage.pieceMax)
        if isAtDevices {
            lookAtDevices(of: core, until: end)
            isWhole = end == count
        } else {
            lookAtActivities(of: core, until: end)
        }
        let isOver = end == count
        (place, isAtDevices) = isOver && !isAtDevices ? (0, true) : (end, isAtDevices)
    }

    private mutating func lookAtActivities(of core: borrowing Core, until end: Int) {
        for slot in ActivitySlot(min(place, end))..<Slot(end)
        where core.activities[slot].key.tenant == tenant {
            let isNamed = activities.takes(core.activities[slot].key.id.rawValue)
            var user: String?
            if case .user(let name) = core.activities[slot].definition.audience,
                users.takes(name)
            {
                user = name
            }
            guard isNamed || user != nil, core.activities[slot].durable != nil else { continue }
            if isNamed { activities.noteName(core.activities[slot].key.id.rawValue) }
            if let user { users.noteName(user) }
        }
    }

    private mutating func lookAtDevices(of core: borrowing Core, until end: Int) {
        for slot in DeviceSlot(min(place, end))..<Slot(end) {
            let traits = core.devices.traits(slot)
            guard traits.isThere, !traits.isChannel, !traits.isLeaving,
                let key = core.devices[slot]?.key, key.tenant == tenant
            else { continue }
            let isNamed = devices.takes(key.id.rawValue)
            var user: String?
            if let name = core.devices[slot]?.user, users.takes(name) { user = name }
            guard isNamed || user != nil, core.devices.slot(of: key) == slot else { continue }
            if isNamed { devices.noteName(key.id.rawValue) }
            if let user { users.noteName(user) }
        }
    }

    /// What was found and is still there, and whether that is all. What has exactly this id comes
    /// first, then all by kind and id. The types, of which a tenant has few, are read here, and so
    /// are damaged activities.
    package func results(in core: borrowing Core) -> (found: [SearchResult], isAll: Bool) {
        var names = activities
        let damaged = core.activities.damaged(of: tenant, type: nil, after: nil, limit: .max)
        for one in damaged where names.takes(one.traits.key.id.rawValue) {
            names.noteName(one.traits.key.id.rawValue)
        }
        let types = core.types.keys(of: tenant).filter { devices.isPrefix(of: $0.name) }
            .sorted { ($0.name, $0.app) < ($1.name, $1.app) }
        var found: [SearchResult] = []
        for id in names.first.compactMap({ Identifier($0) }) {
            Self.result(ActivityKey(tenant: tenant, id: id), in: core).map { found.append($0) }
        }
        for id in devices.first.compactMap({ Identifier($0) }) {
            let slot = core.devices.slot(of: DeviceKey(tenant: tenant, id: id))
            guard let device = slot.flatMap({ core.devices[$0] }) else { continue }
            found.append(.device(id, user: device.user, app: device.common.app))
        }
        for user in users.first {
            let count = core.devices.slots(of: UserKey(tenant: tenant, user: user)).count
            found.append(.user(user, devices: count))
        }
        found += types.prefix(Self.perKindMax).map { .type($0.name, app: $0.app) }
        let isMore = [names, devices, users].contains { $0.isMore }
        let isExact = { (one: SearchResult) in one.name.utf8.elementsEqual(devices.prefix) }
        found = found.filter(isExact) + found.filter { !isExact($0) }
        return (found, !isMore && types.count <= Self.perKindMax)
    }

    private static func result(_ key: ActivityKey, in core: borrowing Core) -> SearchResult? {
        if let slot = core.activities.slot(of: key) {
            guard core.activities[slot].durable != nil else { return nil }
            return .activity(
                key.id, type: core.activities[slot].definition.type, status: core.status(slot))
        }
        return core.activities.damaged(key).map {
            .activity(key.id, type: $0.traits.type, status: .damaged)
        }
    }
}

/// The first names, by their bytes, that begin with a text.
private struct FirstNames: Sendable {
    let prefix: [UInt8]
    /// In order and without repetition: one more than are shown if there are more.
    private var names: [String] = []

    init(prefix: [UInt8]) { self.prefix = prefix }

    var first: some Sequence<String> { names.prefix(PrefixSearch.perKindMax) }
    var isMore: Bool { names.count > PrefixSearch.perKindMax }

    /// False if the name does not begin with the text, or comes too late. It is called for each
    /// slot, so it compares bytes in place.
    func takes(_ name: String) -> Bool {
        guard isPrefix(of: name) else { return false }
        guard isMore, let last = names.last else { return true }
        return Self.precedes(name, last)
    }

    func isPrefix(of name: String) -> Bool {
        guard name.utf8.count >= prefix.count else { return false }
        return name.utf8.withContiguousStorageIfAvailable { $0.starts(with: prefix) }
            ?? name.utf8.starts(with: prefix)
    }

    mutating func noteName(_ name: String) {
        let place = names.firstIndex { !Self.precedes($0, name) } ?? names.endIndex
        if place < names.endIndex, isSameText(names[place], name) { return }
        names.insert(name, at: place)
        if names.count > PrefixSearch.perKindMax + 1 { names.removeLast() }
    }

    /// Compares bytes: two texts that look alike are two users.
    private static func precedes(_ one: String, _ other: String) -> Bool {
        let isBefore = one.utf8.withContiguousStorageIfAvailable { one in
            other.utf8.withContiguousStorageIfAvailable { one.lexicographicallyPrecedes($0) }
        }
        return (isBefore ?? nil) ?? one.utf8.lexicographicallyPrecedes(other.utf8)
    }
}
