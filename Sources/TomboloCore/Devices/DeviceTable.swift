/// All devices by their places, and beside them what pacing asks with each look: small, where a
/// device is large.
struct DeviceTable: RandomAccessCollection, MutableCollection, Sendable {
    /// What a device is to pacing.
    struct Traits: Sendable {
        /// False where there is none any more.
        var isThere = false
        var isChannel = false
        /// It said something of its app.
        var isHeard = false
        var hasOwnClass = false
        var mayBeFrequent = false
        var budgetClass = BudgetClass.standard

        init(_ device: Device?) {
            guard let device else { return }
            isThere = true
            isChannel = device.channel != nil
            isHeard = device.heard != nil
            hasOwnClass = device.common.budgetClass != nil
            mayBeFrequent = device.common.frequentUpdates ?? false
            budgetClass = device.budgetClass
        }
    }

    private var devices: [Device?] = []
    /// Places that nothing refers to any more.
    private var free: [Int] = []
    private var all: [Traits] = []
    private var byKey: [DeviceKey: Int] = [:]
    private var byUser: [UserKey: [Int]] = [:]
    private var counts: [TenantID: Int] = [:]
    private var registrations = RegistrationPool()
    private var holders: [TokenPlace: Int] = [:]
    private var nextNumber: Int64 = 1
    /// What persons did on them.
    var actions = ActionTable()
    /// What the activities of each have spent together.
    var budgets: [DeviceBudget] = []
    /// When a device's lease or grace is over, by its place.
    var deadlines = DeadlineHeap()
    /// When tokens that wait for their activity are forgotten, by the device's place.
    var orphanDeadlines = DeadlineHeap()

    init() {}

    var startIndex: Int { 0 }
    var endIndex: Int { devices.count }

    subscript(place: Int) -> Device? {
        _read { yield devices[place] }
        _modify {
            yield &devices[place]
            all[place] = Traits(devices[place])
        }
    }

    /// Follows every change of the device.
    func traits(_ place: Int) -> Traits { all[place] }

    // MARK: Finding

    /// Channels have no key here: they have places alone.
    func slot(of key: DeviceKey) -> Int? { byKey[key] }

    /// A user's devices, in the order in which they came to the user.
    func slots(of user: UserKey) -> [Int] { byUser[user] ?? [] }

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
        var byNumber: [Int64: Int] = [:]
        for (place, device) in devices.enumerated() {
            if let device { byNumber[device.number] = place }
        }
        for record in kept {
            guard let place = byNumber[record.number], var heard = self[place]?.silence,
                let presence = Presence(record, steady: steady, now: now)
            else { continue }
            heard.presence = presence
            heard.report = PresenceReport(
                phase: presence.state == .active ? .active : .inactive,
                cause: presence.state == .covered ? .controlCenter : nil, at: presence.observedAt)
            self[place]?.heard = heard
            deadlines.set(place, at: presence.changesAt(now: now))
        }
    }

    // MARK: Coming and leaving

    mutating func takeNumber() -> Int64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// No device gets this number, or a lower one, any more.
    mutating func skip(_ number: Int64) { nextNumber = Swift.max(nextNumber, number + 1) }

    /// Gives a device or a channel a place.
    mutating func insert(_ device: Device) -> Int {
        if let place = free.popLast() {
            self[place] = device
            budgets[place] = DeviceBudget()
            return place
        }
        devices.append(device)
        all.append(Traits(device))
        budgets.append(DeviceBudget())
        return devices.count - 1
    }

    /// The device at this place is found by its key.
    mutating func register(_ place: Int, _ key: DeviceKey) {
        if byKey.updateValue(place, forKey: key) == nil { counts[key.tenant, default: 0] += 1 }
    }

    /// Frees its place, for another device; a registered one is found no more.
    mutating func remove(_ place: Int) {
        guard let gone = devices[place] else { return }
        self[place] = nil
        free.append(place)
        deadlines.set(place, at: nil)
        orphanDeadlines.set(place, at: nil)
        guard byKey[gone.key] == place else { return }
        byKey[gone.key] = nil
        counts[gone.key.tenant, default: 0] -= 1
    }

    /// Keeps an equal registration once.
    mutating func shareRegistration(_ place: Int) { devices[place]?.share(with: &registrations) }

    // MARK: Users

    /// The device is of its user from now on. Answers the user; nil where it has none.
    mutating func enterUser(_ place: Int) -> UserKey? {
        guard let user = user(of: place) else { return nil }
        byUser[user, default: []].append(place)
        return user
    }

    /// The device leaves its user. Answers the user; nil where it has none.
    mutating func leaveUser(_ place: Int) -> UserKey? {
        guard let user = user(of: place) else { return nil }
        byUser[user]?.removeAll { $0 == place }
        if byUser[user]?.isEmpty == true { byUser[user] = nil }
        return user
    }

    private func user(of place: Int) -> UserKey? {
        guard let device = devices[place], let user = device.registration.user else { return nil }
        return UserKey(tenant: device.key.tenant, user: user)
    }

    // MARK: Tokens

    /// The device that has a token now.
    func holder(of token: TokenPlace) -> Int? { holders[token] }

    mutating func hold(_ token: TokenPlace, by place: Int) { holders[token] = place }

    /// The device holds the token no more; where another holds it, that stays.
    mutating func release(_ token: TokenPlace, by place: Int) {
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
    func isFull(_ place: Int, _ limits: Limits) -> Bool {
        devices[place]?.destinations.count ?? 0 >= limits.cardsPerDeviceMax
            && devices[place]?.channel == nil
    }

    /// Each card of a device is looked at with each of its requests.
    func checkCards(of place: Int, more: Int, _ limits: Limits) throws(Refusal) {
        let count = devices[place]?.destinations.count ?? 0
        guard more > 0, count + more > limits.cardsPerDeviceMax else { return }
        let id = devices[place]?.key.id
        throw .full(
            "the device \"\(id?.rawValue ?? "")\" has \(count) cards that run, or whose end it has "
                + "not heard of", "cards_per_device",
            "update an activity instead of starting anew")
    }
}
