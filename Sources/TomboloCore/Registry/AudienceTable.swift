/// Which running activities are for which users and unregistered devices, and how many cards there
/// are.
///
/// A registered device itself lists the activities that name it. `cards` counts durable starts, and
/// `coming` those that are not durable yet.
struct AudienceTable: Sendable {
    private var byName = ShardedDictionary<DeviceKey, SlotList<Tables.Activities>>()
    private var byUser = ShardedDictionary<UserKey, [ActivitySlot]>()
    /// Starts that are accepted but not durable.
    private(set) var coming = ComingStarts()
    /// Number of cards on devices, and of names of unregistered devices in audiences.
    private(set) var cards = CardCounts()

    // MARK: Users

    func activities(of user: UserKey) -> [ActivitySlot] { byUser[user] ?? [] }

    /// Number of a user's running activities, with starts that are not durable yet.
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

    /// Corrects the cards of starts that are not durable, after a user has got (1) or lost (-1) a
    /// device.
    mutating func moveDevice(_ count: Int, of user: UserKey) {
        coming.addCards(count * (coming.users[user] ?? 0), of: user.tenant)
    }

    // MARK: Names of devices that are not registered

    /// How often unregistered devices are named.
    var nameCount: Int { byName.values.reduce(0) { $0 + $1.count } }

    /// Number of running activities that name a device, with starts that are not durable yet.
    ///
    /// - Parameter named: how many durable ones do, if the device is registered.
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

    /// Moves the activities that name a device to the device, when it registers.
    mutating func takeActivities(naming device: DeviceKey) -> SlotList<Tables.Activities> {
        let named = byName.removeValue(forKey: device) ?? []
        cards.add(-named.count, of: device.tenant)
        return named
    }

    /// Keeps the activities that name a device, when the device is removed.
    mutating func keep(_ named: SlotList<Tables.Activities>, _ device: DeviceKey) {
        if !named.isEmpty { byName[device] = named }
        cards.add(named.count, of: device.tenant)
    }

    // MARK: Counts

    mutating func addCards(_ count: Int, of tenant: TenantID) { cards.add(count, of: tenant) }

    /// Counts a start that is accepted (1), or that is durable now or was rolled back (-1).
    ///
    /// - Parameter cards: number of cards that the start makes.
    mutating func noteComing(
        _ count: Int, _ audience: Audience, cards: Int, of tenant: TenantID
    ) {
        coming.add(count, audience, of: tenant)
        coming.addCards(count * cards, of: tenant)
    }

    /// The limit for the cards of one tenant, or that for all cards.
    enum CardLimit { case ofTenant, ofAll }

    /// The limit that `more` cards would exceed; nil if they exceed none.
    func exceeded(_ more: Int, of tenant: TenantID, _ limits: Limits) -> CardLimit? {
        guard more > 0 else { return nil }
        if cards[tenant] + coming.cards[tenant] + more > limits.cardsPerTenantMax {
            return .ofTenant
        }
        return cards.inAll + coming.cards.inAll + more > limits.cardsMax ? .ofAll : nil
    }

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
