/// Which running activities wait for which devices, and how many cards there are.
///
/// A registered device keeps the activities that name it in its own row; the names of unregistered
/// devices are here. `cards` counts what is durable, and `coming` what is being written.
struct AudienceTable: Sendable {
    private var byName: [DeviceKey: SlotList<Tables.Activities>] = [:]
    private var byUser: [UserKey: [ActivitySlot]] = [:]
    /// Starts that are taken and not yet durable.
    private(set) var coming = ComingStarts()
    /// Cards on devices, and names of unregistered devices.
    private(set) var cards = CardCounts()

    // MARK: Users

    /// Running activities for a user, oldest first.
    func activities(of user: UserKey) -> [ActivitySlot] { byUser[user] ?? [] }

    /// The number of a user's running activities, with starts that are being written.
    func running(of user: UserKey) -> Int {
        (byUser[user]?.count ?? 0) + (coming.users[user] ?? 0)
    }

    mutating func join(_ activity: ActivitySlot, _ user: UserKey) {
        byUser[user, default: []].append(activity)
    }

    mutating func leave(_ activity: ActivitySlot, _ user: UserKey) {
        byUser[user]?.removeAll { $0 == activity }
        if byUser[user]?.isEmpty == true { byUser[user] = nil }
    }

    /// A device is added to a user (1) or removed (-1): it counts for starts being written, too.
    mutating func moveDevice(_ count: Int, of user: UserKey) {
        coming.addCards(count * (coming.users[user] ?? 0), of: user.tenant)
    }

    // MARK: Names of devices that are not registered

    /// The number of all names.
    var nameCount: Int { byName.values.reduce(0) { $0 + $1.count } }

    /// The number of running activities that name a device, with starts that are being written.
    ///
    /// - Parameter named: how many name it, if it is registered.
    func running(of device: DeviceKey, named: Int?) -> Int {
        (named ?? byName[device]?.count ?? 0) + (coming.devices[device] ?? 0)
    }

    mutating func join(_ activity: ActivitySlot, _ device: DeviceKey) {
        byName[device, default: []].append(activity)
        cards.add(1, of: device.tenant)
    }

    mutating func leave(_ activity: ActivitySlot, _ device: DeviceKey) {
        guard let count = byName[device]?.count else { return }
        byName[device]?.remove(activity)
        cards.add((byName[device]?.count ?? 0) - count, of: device.tenant)
        if byName[device]?.isEmpty == true { byName[device] = nil }
    }

    /// The device is registered: from now on it keeps the activities that name it.
    mutating func take(_ device: DeviceKey) -> SlotList<Tables.Activities> {
        let named = byName.removeValue(forKey: device) ?? []
        cards.add(-named.count, of: device.tenant)
        return named
    }

    /// The device is removed, while the activities that name it run on.
    mutating func keep(_ named: SlotList<Tables.Activities>, _ device: DeviceKey) {
        if !named.isEmpty { byName[device] = named }
        cards.add(named.count, of: device.tenant)
    }

    // MARK: Counts

    /// Counts more or fewer cards on devices.
    mutating func addCards(_ count: Int, of tenant: TenantID) { cards.add(count, of: tenant) }

    /// A start is taken (1), or has become durable or is taken back (-1).
    ///
    /// - Parameter cards: the number of cards it is for.
    mutating func noteComing(
        _ count: Int, _ audience: Audience, cards: Int, of tenant: TenantID
    ) {
        coming.add(count, audience, of: tenant)
        coming.addCards(count * cards, of: tenant)
    }

    /// A limit of cards on devices.
    enum CardLimit { case ofTenant, ofAll }

    /// The limit that `more` cards would exceed; nil if there is none.
    func exceeded(_ more: Int, of tenant: TenantID, _ limits: Limits) -> CardLimit? {
        guard more > 0 else { return nil }
        if cards[tenant] + coming.cards[tenant] + more > limits.cardsPerTenantMax {
            return .ofTenant
        }
        return cards.inAll + coming.cards.inAll + more > limits.cardsMax ? .ofAll : nil
    }

    /// Refuses `more` cards if they would exceed a limit.
    func checkCards(more: Int, of tenant: TenantID, _ limits: Limits) throws(Refusal) {
        let remedy =
            "end activities that run (POST /v1/activities/end): their cards count until the "
            + "phones have heard of the end"
        switch exceeded(more, of: tenant, limits) {
        case nil: return
        case .ofTenant?:
            let count = cards[tenant] + coming.cards[tenant]
            throw .full(
                "there are \(count) cards on devices, and \(more) more would be too many",
                "cards_per_tenant", remedy)
        case .ofAll?:
            throw .full("the relay has as many cards on devices as it keeps", "cards", remedy)
        }
    }
}
