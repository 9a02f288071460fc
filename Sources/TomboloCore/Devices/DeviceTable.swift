/// All devices and channels by their slots. A device is large, so the values that pacing reads
/// often are stored separately.
struct DeviceTable: RandomAccessCollection, Sendable {
    /// The values of a device that pacing needs.
    struct Traits: Sendable {
        /// False for a vacant slot.
        var isThere = false
        var isChannel = false
        var isLeaving = false
        /// True if the device has reported about its app.
        var isHeard = false
        var hasOwnClass = false
        var mayBeFrequent = false
        var budgetClass = BudgetClass.standard

        init() {}

        init(_ device: borrowing Device) {
            isThere = true
            isChannel = device.channel != nil
            isLeaving = device.leavingUntil != nil
            isHeard = device.heard != nil
            hasOwnClass = device.common.budgetClass != nil
            mayBeFrequent = device.common.frequentUpdates ?? false
            budgetClass = device.budgetClass
        }
    }

    /// A vacant slot has `Device.vacant`.
    private var devices = SlotArray<Tables.Devices, Device>()
    private var free: [DeviceSlot] = []
    private var all = SlotArray<Tables.Devices, Traits>()
    private var byKey = ShardedDictionary<DeviceKey, DeviceSlot>()
    private var byUser = ShardedDictionary<UserKey, [DeviceSlot]>()
    private var counts: [TenantID: Int] = [:]
    /// Up to `nearNamesMax` device names of each tenant, to find one that is similar to a wrong
    /// name.
    private var firstKeys: [TenantID: [DeviceKey]] = [:]
    private var registrations = RegistrationPool()
    private var holders = ShardedDictionary<TokenPlace, DeviceSlot>()
    private var nextNumber: Int64 = 1
    var actions = ActionTable()
    var departed = DepartedDevices()
    /// Slots of deleted devices that stay until their cards have ended.
    private(set) var leaving: Set<DeviceSlot> = []
    /// The budget that all activities of a device share, by slot.
    var budgets = SlotArray<Tables.Devices, DeviceBudget>()
    /// When the state of a device changes by time, by slot: a presence lease or a deletion ends.
    var deadlines = DeadlineHeap<Tables.Devices>()
    /// When tokens of unknown activities are dropped, by slot.
    var orphanDeadlines = DeadlineHeap<Tables.Devices>()

    init() {}

    var startIndex: DeviceSlot { devices.startIndex }
    var endIndex: DeviceSlot { devices.endIndex }

    /// A copy of a device; nil for a vacant slot.
    subscript(place: DeviceSlot) -> Device? { all[place].isThere ? devices[place] : nil }

    /// Reads or changes a device in place. Traps if the slot is vacant.
    subscript(known place: DeviceSlot) -> Device {
        @inline(__always) _read {
            precondition(all[place].isThere, "no device is here")
            yield devices[place]
        }
        @inline(__always) _modify {
            precondition(all[place].isThere, "no device is here")
            defer { all[place] = Traits(devices[place]) }
            yield &devices[place]
        }
    }

    /// Reads from a device, without a copy of it; nil for a vacant slot.
    func inspect<Value>(_ place: DeviceSlot, _ value: (borrowing Device) -> Value?) -> Value? {
        all[place].isThere ? value(devices[place]) : nil
    }

    func traits(_ place: DeviceSlot) -> Traits { all[place] }

    // MARK: Finding

    /// Notes that a device or its backend has sent a request, so that it is not silent any more.
    mutating func hasSpoken(_ key: DeviceKey, now: Instant) {
        guard let slot = byKey[key] else { return }
        budgets[slot].silentSince = .distantFuture
        budgets[slot].spokeAt = now
    }

    /// The slot of a registered device. Channels and devices that are being deleted have no key
    /// here.
    func slot(of key: DeviceKey) -> DeviceSlot? { byKey[key] }

    /// The slot of a registered device. Throws `unknownDevice` if the name is not registered.
    func registered(_ key: DeviceKey) throws(Refusal) -> DeviceSlot {
        if let slot = byKey[key] { return slot }
        throw Refusal(
            .unknownDevice,
            "no device \"\(key.id)\"; register it first with PUT /v1/devices/\(key.id)")
    }

    /// A user's devices, in the order in which they were assigned to the user.
    func slots(of user: UserKey) -> [DeviceSlot] { byUser[user] ?? [] }

    /// Names of the tenant's devices if it has at most `nearNamesMax`, else none: among many names,
    /// a similar one is no sign of a mistake.
    func few(of tenant: TenantID) -> [DeviceKey] {
        count(of: tenant) <= nearNamesMax ? firstKeys[tenant] ?? [] : []
    }

    func fewUsers(of tenant: TenantID) -> [String] {
        few(of: tenant).compactMap { byKey[$0].flatMap { self[$0]?.registration.user } }
    }

    var keyCount: Int { byKey.count }

    func count(of tenant: TenantID) -> Int { counts[tenant] ?? 0 }

    /// Throws if the tenant or the relay already has the maximum number of devices.
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

    /// Restores the presence of apps that were in front before the restart.
    ///
    /// - Parameter steady: converts wall time to monotonic time.
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

    /// Restores the users' actions from their records. Returns a text for each damaged record.
    mutating func adoptActions(_ records: [Record]) -> [String] {
        let kept = records.filter { $0.space == .action }
        guard !kept.isEmpty else { return [] }
        let keys = byNumber.compactMapValues { self[$0]?.key }
        return kept.flatMap { record in actions.adopt(record) { keys[$0] } }
    }

    private var byNumber: [Int64: DeviceSlot] {
        var places: [Int64: DeviceSlot] = [:]
        for place in devices.indices {
            if let device = self[place] { places[device.number] = place }
        }
        return places
    }

    // MARK: Insertion and removal

    mutating func takeNumber() -> Int64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// Makes sure that no device gets this number or a lower one.
    mutating func skip(_ number: Int64) { nextNumber = Swift.max(nextNumber, number + 1) }

    mutating func insert(_ device: Device) -> DeviceSlot {
        if let place = free.popLast() {
            devices[place] = device
            all[place] = Traits(device)
            budgets[place] = DeviceBudget()
            return place
        }
        all.append(Traits(device))
        budgets.append(DeviceBudget())
        return devices.append(device)
    }

    /// Lets the device in this slot be found by its key.
    mutating func register(_ place: DeviceSlot, _ key: DeviceKey) {
        guard byKey.updateValue(place, forKey: key) == nil else { return }
        counts[key.tenant, default: 0] += 1
        if firstKeys[key.tenant, default: []].count < nearNamesMax {
            firstKeys[key.tenant, default: []].append(key)
        }
    }

    /// Removes a device and frees its slot. Nothing may refer to the slot any more.
    mutating func remove(_ place: DeviceSlot) {
        guard all[place].isThere else { return }
        unregister(place)
        devices[place] = .vacant
        all[place] = Traits()
        free.append(place)
        leaving.remove(place)
        deadlines.set(place, at: nil)
        orphanDeadlines.set(place, at: nil)
    }

    /// Removes the device's key, unless the key belongs to another slot now.
    private mutating func unregister(_ place: DeviceSlot) {
        guard let key = self[place]?.key, byKey[key] == place else { return }
        byKey[key] = nil
        counts[key.tenant, default: 0] -= 1
        firstKeys[key.tenant]?.removeAll { $0 == key }
    }

    /// Deletes a device, but keeps its slot until its cards have ended. The device is not found by
    /// its key any more. Its owner is kept for longer than the device.
    mutating func leave(_ place: DeviceSlot, until end: Instant) {
        unregister(place)
        self[known: place].leavingUntil = end
        adoptLeaving(place)
    }

    /// Handles the new registration of a deleted device's name. Returns the records to delete: none
    /// while the old device stays, because it still uses the record.
    mutating func comeBack(_ key: DeviceKey, _ ids: DeliveryIDs) -> [Record] {
        let stays = leaving.contains { self[$0]?.number == departed[.deleted(key)]?.number }
        let records = departed.remove(.deleted(key))
        return (stays ? [] : records) + departed.remove(.erased(ids.deviceHash(key)))
    }

    /// Adds a deleted device that stays: after `leave`, or at start-up.
    mutating func adoptLeaving(_ place: DeviceSlot) {
        leaving.insert(place)
        deadlines.set(place, at: .distantPast)
        guard let device = self[place], let owner = device.owner, byKey[device.key] == nil
        else { return }
        departed.place(.deleted(device.key), .init(number: device.number, owner: owner))
    }

    /// Lets the device share an equal registration, to save memory.
    mutating func shareRegistration(_ place: DeviceSlot) {
        devices[place].share(with: &registrations)
    }

    // MARK: Users

    /// Adds the device to its user's devices. Returns the user; nil if the device has none.
    mutating func enterUser(_ place: DeviceSlot) -> UserKey? {
        guard let user = user(of: place) else { return nil }
        byUser[user, default: []].append(place)
        return user
    }

    /// Removes the device from its user's devices. Returns the user; nil if the device has none.
    mutating func leaveUser(_ place: DeviceSlot) -> UserKey? {
        guard let user = user(of: place) else { return nil }
        byUser[user]?.removeAll { $0 == place }
        if byUser[user]?.isEmpty == true { byUser[user] = nil }
        return user
    }

    func user(of place: DeviceSlot) -> UserKey? {
        guard let device = self[place], let user = device.registration.user else { return nil }
        return UserKey(tenant: device.key.tenant, user: user)
    }

    /// The owner of a device, also after its deletion; nil if it never had one.
    ///
    /// - Parameter ids: give the hash under which an erased device is remembered.
    func owner(of key: DeviceKey, _ ids: DeliveryIDs) -> DeviceOwner? {
        if let device = byKey[key].flatMap({ self[$0] }) { return device.owner }
        return departed[.deleted(key)]?.owner
            ?? departed[.erased(ids.deviceHash(key))]?.owner
    }

    /// Throws if the request's key may not act for the device.
    ///
    /// - Parameter registers: true for a registration, which signs the key's user in.
    func checkOwner(
        of key: DeviceKey, _ authority: DeviceAuthority, registers: Bool, _ ids: DeliveryIDs
    ) throws(Refusal) {
        guard authority != .operate else { return }
        try authority.checkRegistration(owner(of: key, ids), of: key.id)
        guard !registers, let device = byKey[key].flatMap({ self[$0] }) else { return }
        try authority.checkUser(device.registration.user, of: key.id)
    }

    /// Sets the owner of devices whose records come from an older relay, which stored no owner.
    /// Returns the records of the key order to write.
    mutating func noteOwners(_ keys: inout KeyTable) -> [Record] {
        var all: [Record] = []
        for place in devices.indices {
            guard let device = self[place], device.owner == nil,
                let user = device.registration.user
            else { continue }
            let (key, records) = keys.unnoted()
            all += records
            devices[place].owner = DeviceOwner(user: user, key: key)
        }
        return all
    }

    // MARK: Tokens

    func holder(of token: TokenPlace) -> DeviceSlot? { holders[token] }

    /// Handles Apple's acceptance of a token: it is not dead. Returns true if Apple had refused it
    /// before.
    mutating func noteTaken(_ value: PushToken, of place: DeviceSlot) -> Bool {
        guard inspect(place, { $0.hasRetired }) == true else { return false }
        let retired = devices[place].retired
        let left = retired.filter { $0.value.value != value }
        if left.count < retired.count { devices[place].retired = left }
        return left.count < retired.count
    }

    mutating func hold(_ token: TokenPlace, by place: DeviceSlot) { holders[token] = place }

    /// Releases the token, unless another device has it now.
    mutating func release(_ token: TokenPlace, by place: DeviceSlot) {
        if holders[token] == place { holders[token] = nil }
    }

    // MARK: Cards

    /// Maximum number of cards that a start with this audience can make now. Names of unregistered
    /// devices count.
    func cards(of audience: Audience, _ tenant: TenantID) -> Int {
        switch audience {
        case .none: 0
        case .channel: 1
        case .devices(let ids): ids.count
        case .user(let user): slots(of: UserKey(tenant: tenant, user: user)).count
        }
    }

    /// True if a device has the maximum number of cards; never for a channel.
    func isFull(_ place: DeviceSlot, _ limits: Limits) -> Bool {
        inspect(place) { $0.destinations.count } ?? 0 >= limits.cardsPerDeviceMax
            && !all[place].isChannel
    }

    /// Throws if a device would get too many cards. The limit exists because each request of a
    /// device scans its cards.
    func checkCards(of place: DeviceSlot, more: Int, _ limits: Limits) throws(Refusal) {
        let count = inspect(place) { $0.destinations.count } ?? 0
        guard more > 0, count + more > limits.cardsPerDeviceMax else { return }
        let id = self[place]?.key.id
        throw .full(
            "the device \"\(id?.rawValue ?? "")\" has \(count) cards that run, or whose end it has "
                + "not heard of", "cards_per_device",
            "update an activity instead of starting another")
    }
}
