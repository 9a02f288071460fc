/// All devices by their places, and beside them what pacing asks with each look: small, where a
/// device is large.
struct DeviceTable: RandomAccessCollection, Sendable {
    /// What a device is to pacing.
    struct Traits: Sendable {
        /// False where there is none any more.
        var isThere = false
        var isChannel = false
        var isLeaving = false
        /// It said something of its app.
        var isHeard = false
        var hasOwnClass = false
        var mayBeFrequent = false
        var budgetClass = BudgetClass.standard

        init(_ device: Device?) {
            guard let device else { return }
            isThere = true
            isChannel = device.channel != nil
            isLeaving = device.leavingUntil != nil
            isHeard = device.heard != nil
            hasOwnClass = device.common.budgetClass != nil
            mayBeFrequent = device.common.frequentUpdates ?? false
            budgetClass = device.budgetClass
        }
    }

    private var devices = SlotArray<Tables.Devices, Device?>()
    /// Places that nothing refers to any more.
    private var free: [DeviceSlot] = []
    private var all = SlotArray<Tables.Devices, Traits>()
    private var byKey: [DeviceKey: DeviceSlot] = [:]
    private var byUser: [UserKey: [DeviceSlot]] = [:]
    private var counts: [TenantID: Int] = [:]
    /// Of each tenant the devices that came first, at most `nearNamesMax`.
    private var firstKeys: [TenantID: [DeviceKey]] = [:]
    private var registrations = RegistrationPool()
    private var holders: [TokenPlace: DeviceSlot] = [:]
    private var nextNumber: Int64 = 1
    /// What persons did on them.
    var actions = ActionTable()
    /// Whose those were that were deleted.
    var departed = DepartedDevices()
    /// Those that were deleted, and whose cards have an end to come.
    private(set) var leaving: Set<DeviceSlot> = []
    /// What the activities of each have spent together.
    var budgets = SlotArray<Tables.Devices, DeviceBudget>()
    /// When a device's lease or grace is over, by its place.
    var deadlines = DeadlineHeap<Tables.Devices>()
    /// When tokens that wait for their activity are forgotten, by the device's place.
    var orphanDeadlines = DeadlineHeap<Tables.Devices>()

    init() {}

    var startIndex: DeviceSlot { devices.startIndex }
    var endIndex: DeviceSlot { devices.endIndex }

    /// To read; nil for a vacant place.
    subscript(place: DeviceSlot) -> Device? {
        _read { yield devices[place] }
    }

    /// To change. The place must be taken: a change of nothing would be lost without a word.
    subscript(known place: DeviceSlot) -> Device {
        _read {
            guard let device = devices[place] else { preconditionFailure("no device is here") }
            yield device
        }
        _modify {
            guard var device = devices[place] else { preconditionFailure("no device is here") }
            // Taken out while it changes, so that its arrays are not shared.
            devices[place] = nil
            defer { put(device, at: place) }
            yield &device
        }
    }

    /// Follows every change of the device.
    func traits(_ place: DeviceSlot) -> Traits { all[place] }

    // MARK: Finding

    /// A device, or its backend, has said something.
    mutating func hasSpoken(_ key: DeviceKey) {
        if let slot = byKey[key] { budgets[slot].silentSince = .distantFuture }
    }

    /// Channels have no key here: they have places alone.
    func slot(of key: DeviceKey) -> DeviceSlot? { byKey[key] }

    /// The same; throws `unknownDevice` where there is none.
    func registered(_ key: DeviceKey) throws(Refusal) -> DeviceSlot {
        if let slot = byKey[key] { return slot }
        throw Refusal(
            .unknownDevice,
            "no device \"\(key.id)\"; register it first with PUT /v1/devices/\(key.id)")
    }

    /// A user's devices, in the order in which they came to the user.
    func slots(of user: UserKey) -> [DeviceSlot] { byUser[user] ?? [] }

    /// A tenant's devices while it has at most `nearNamesMax`, as where somebody tries it; then
    /// none: in a fleet a name that is near another is no slip. What other tenants have changes
    /// nothing.
    func few(of tenant: TenantID) -> [DeviceKey] {
        count(of: tenant) <= nearNamesMax ? firstKeys[tenant] ?? [] : []
    }

    /// The users of these devices.
    func fewUsers(of tenant: TenantID) -> [String] {
        few(of: tenant).compactMap { byKey[$0].flatMap { devices[$0]?.registration.user } }
    }

    /// Registered devices of all tenants.
    var keyCount: Int { byKey.count }

    /// Registered devices of one.
    func count(of tenant: TenantID) -> Int { counts[tenant] ?? 0 }

    /// Another device of a tenant is registered only where neither limit is reached.
    func checkCount(of tenant: TenantID, _ limits: Limits) throws(Refusal) {
        let remedy = "delete those that are gone (DELETE /v1/devices/{device})"
        let own = count(of: tenant)
        guard own < limits.devicesPerTenantMax else {
            throw .full("\(own) devices are registered", "devices_per_tenant", remedy)
        }
        guard keyCount < limits.devicesMax else {
            throw .full("the relay has as many devices as it keeps", "devices", remedy)
        }
    }

    /// Apps that were in front when the relay before stopped.
    ///
    /// - Parameter steady: the steady time of a moment of wall time.
    mutating func adoptPresences(
        _ records: [Record], now: Instant, steady: (Instant) -> Instant
    ) {
        let kept = records.filter { $0.space == .presence }
        guard !kept.isEmpty else { return }
        let byNumber = self.byNumber
        for record in kept {
            guard let place = byNumber[record.number], var heard = self[place]?.silence,
                let presence = Presence(record, steady: steady, now: now)
            else { continue }
            heard.presence = presence
            heard.report = PresenceReport(
                phase: presence.state == .active ? .active : .inactive,
                cause: presence.state == .covered ? .controlCenter : nil, at: presence.observedAt)
            self[known: place].heard = heard
            deadlines.set(place, at: presence.changesAt(now: now))
        }
    }

    /// What persons did while the relay before ran. Answers what is wrong with it.
    mutating func adoptActions(_ records: [Record]) -> [String] {
        let kept = records.filter { $0.space == .action }
        guard !kept.isEmpty else { return [] }
        let byNumber = self.byNumber
        return kept.flatMap { record in
            actions.adopt(record) { number in byNumber[number].flatMap { devices[$0]?.key } }
        }
    }

    private var byNumber: [Int64: DeviceSlot] {
        var places: [Int64: DeviceSlot] = [:]
        for place in devices.indices {
            if let device = devices[place] { places[device.number] = place }
        }
        return places
    }

    // MARK: Coming and leaving

    mutating func takeNumber() -> Int64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// No device gets this number, or a lower one, any more.
    mutating func skip(_ number: Int64) { nextNumber = Swift.max(nextNumber, number + 1) }

    /// Gives a device or a channel a place.
    mutating func insert(_ device: Device) -> DeviceSlot {
        if let place = free.popLast() {
            put(device, at: place)
            budgets[place] = DeviceBudget()
            return place
        }
        all.append(Traits(device))
        budgets.append(DeviceBudget())
        return devices.append(device)
    }

    /// The device at this place is found by its key.
    mutating func register(_ place: DeviceSlot, _ key: DeviceKey) {
        guard byKey.updateValue(place, forKey: key) == nil else { return }
        counts[key.tenant, default: 0] += 1
        if firstKeys[key.tenant, default: []].count < nearNamesMax {
            firstKeys[key.tenant, default: []].append(key)
        }
    }

    /// Frees its place, for another device; a registered one is found no more.
    mutating func remove(_ place: DeviceSlot) {
        guard devices[place] != nil else { return }
        unregister(place)
        put(nil, at: place)
        free.append(place)
        leaving.remove(place)
        deadlines.set(place, at: nil)
        orphanDeadlines.set(place, at: nil)
    }

    /// A registered device is found no more. A place of that name may be another's.
    private mutating func unregister(_ place: DeviceSlot) {
        guard let key = devices[place]?.key, byKey[key] == place else { return }
        byKey[key] = nil
        counts[key.tenant, default: 0] -= 1
        firstKeys[key.tenant]?.removeAll { $0 == key }
    }

    /// A device is deleted, and stays for the ends of its cards: it is found no more. Whose it was
    /// is remembered, also after it has gone.
    mutating func leave(_ place: DeviceSlot, until end: Instant) {
        unregister(place)
        self[known: place].leavingUntil = end
        adoptLeaving(place)
    }

    /// A device of that name is registered anew. Answers the current values to delete: none while
    /// the one before stays for its ends.
    mutating func comeBack(_ key: DeviceKey) -> [Record] {
        let stays = leaving.contains { devices[$0]?.number == departed[key]?.number }
        let records = departed.remove(key)
        return stays ? [] : records
    }

    /// The same of one that the relay before left so.
    mutating func adoptLeaving(_ place: DeviceSlot) {
        leaving.insert(place)
        deadlines.set(place, at: .distantPast)
        guard let device = devices[place], let owner = device.owner, byKey[device.key] == nil
        else { return }
        departed.place(device.key, .init(number: device.number, owner: owner))
    }

    private mutating func put(_ device: Device?, at place: DeviceSlot) {
        devices[place] = device
        all[place] = Traits(device)
    }

    /// Keeps an equal registration once.
    mutating func shareRegistration(_ place: DeviceSlot) {
        devices[place]?.share(with: &registrations)
    }

    // MARK: Users

    /// The device is of its user from now on. Answers the user; nil where it has none.
    mutating func enterUser(_ place: DeviceSlot) -> UserKey? {
        guard let user = user(of: place) else { return nil }
        byUser[user, default: []].append(place)
        return user
    }

    /// The device leaves its user. Answers the user; nil where it has none.
    mutating func leaveUser(_ place: DeviceSlot) -> UserKey? {
        guard let user = user(of: place) else { return nil }
        byUser[user]?.removeAll { $0 == place }
        if byUser[user]?.isEmpty == true { byUser[user] = nil }
        return user
    }

    private func user(of place: DeviceSlot) -> UserKey? {
        guard let device = devices[place], let user = device.registration.user else { return nil }
        return UserKey(tenant: device.key.tenant, user: user)
    }

    /// Whose a device is, or was before it was deleted; nil: nobody ever had it.
    func owner(of key: DeviceKey) -> DeviceOwner? {
        byKey[key].flatMap { devices[$0] }.map(\.owner) ?? departed[key]?.owner
    }

    /// Throws `keyOfFormerUser` where the key was minted for a user who had the device before.
    func checkOwner(of key: DeviceKey, _ authority: DeviceAuthority) throws(Refusal) {
        guard authority != .operate else { return }
        try authority.checkOwner(owner(of: key), of: key.id)
    }

    /// Devices of an older relay, which did not note whose key gave them their users. Answers the
    /// current values to write.
    mutating func noteOwners(_ keys: inout KeyTable) -> [Record] {
        var all: [Record] = []
        for place in devices.indices {
            guard let device = devices[place], device.owner == nil,
                let user = device.registration.user
            else { continue }
            let (key, records) = keys.unnoted()
            all += records
            devices[place]?.owner = DeviceOwner(user: user, key: key)
        }
        return all
    }

    // MARK: Tokens

    /// The device that has a token now.
    func holder(of token: TokenPlace) -> DeviceSlot? { holders[token] }

    /// Apple takes a token. Answers whether it refused that one before.
    mutating func noteTaken(_ value: PushToken, of place: DeviceSlot) -> Bool {
        guard let retired = devices[place]?.retired, !retired.isEmpty else { return false }
        let left = retired.filter { $0.value.value != value }
        if left.count < retired.count { devices[place]?.retired = left }
        return left.count < retired.count
    }

    mutating func hold(_ token: TokenPlace, by place: DeviceSlot) { holders[token] = place }

    /// The device holds the token no more; where another holds it, that stays.
    mutating func release(_ token: TokenPlace, by place: DeviceSlot) {
        if holders[token] == place { holders[token] = nil }
    }

    // MARK: Cards

    /// How many cards, and names of devices that are not registered, a start is for.
    func cards(of audience: Audience, _ tenant: TenantID) -> Int {
        switch audience {
        case .none: 0
        case .channel: 1
        case .devices(let ids): ids.count
        case .user(let user): slots(of: UserKey(tenant: tenant, user: user)).count
        }
    }

    /// Whether a device has all the cards that it may have; a channel has one at a time.
    func isFull(_ place: DeviceSlot, _ limits: Limits) -> Bool {
        devices[place]?.destinations.count ?? 0 >= limits.cardsPerDeviceMax
            && devices[place]?.channel == nil
    }

    /// Each card of a device is looked at with each of its requests.
    func checkCards(of place: DeviceSlot, more: Int, _ limits: Limits) throws(Refusal) {
        let count = devices[place]?.destinations.count ?? 0
        guard more > 0, count + more > limits.cardsPerDeviceMax else { return }
        let id = devices[place]?.key.id
        throw .full(
            "the device \"\(id?.rawValue ?? "")\" has \(count) cards that run, or whose end it has "
                + "not heard of", "cards_per_device",
            "update an activity instead of starting anew")
    }
}
