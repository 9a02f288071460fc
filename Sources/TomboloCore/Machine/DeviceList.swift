import TomboloJSON

/// Selects a tenant's devices for a list. A member that is nil selects all.
package struct DeviceFilter: Sendable {
    package var tenant: TenantID
    package var user: String?
    package var app: String?
    /// The first parts of the system's version: `26` selects 26 and 26.1, and not 260.
    package var os: String?
    /// Selects devices whose last sign of life is older, or unknown.
    package var silentFor: Span?

    /// Selects the devices of a tenant that are all this; nil selects any.
    package init(
        tenant: TenantID, user: String? = nil, app: String? = nil, os: String? = nil,
        silentFor: Span? = nil
    ) {
        (self.tenant, self.user, self.app) = (tenant, user, app)
        (self.os, self.silentFor) = (os, silentFor)
    }

    fileprivate func selects(_ slot: DeviceSlot, of core: borrowing Core) -> Bool {
        if let user, core.devices.inspect(slot, { $0.user.map { isSameText($0, user) } }) != true {
            return false
        }
        if let app, core.devices.inspect(slot, { $0.common.app }) != app { return false }
        guard let os else { return true }
        guard let own = core.devices.inspect(slot, { $0.common.os }) else { return false }
        return own == os || own.hasPrefix(os.hasSuffix(".") ? os : os + ".")
    }
}

/// A page of a tenant's devices in the order of their ids, collected in pieces.
package struct DeviceList: Sendable {
    private var page: IDPage
    private let filter: DeviceFilter

    /// A device whose times are compared counts as so many slots of a piece.
    private static let timesCost = 8

    /// - Parameter after: the last device of the page before; nil for the first page.
    package init(_ filter: DeviceFilter, after: Identifier?, limit: Int) {
        (page, self.filter) = (IDPage(after: after, limit: limit), filter)
    }

    /// True after the last device.
    package var isWhole: Bool { page.place == nil }

    /// Adds the matching devices in the next slots.
    package mutating func collectMore(of core: borrowing Core, now: Instant) {
        guard var place = page.place else { return }
        let since = filter.silentFor.map { core.wall(now) - $0 }
        var looked = 0
        while place < core.devices.count, looked < IDPage.pieceMax {
            let slot = DeviceSlot(place)
            (place, looked) = (place + 1, looked + 1)
            let traits = core.devices.traits(slot)
            // Only what is asked for is read: a copy of each device costs ten times as much.
            guard traits.isThere, !traits.isChannel,
                let key = core.devices.inspect(
                    slot,
                    {
                        $0.key.tenant == filter.tenant && page.takes($0.key.id) ? $0.key : nil
                    }), filter.selects(slot, of: core), core.devices.slot(of: key) == slot
            else { continue }
            if let since {
                looked += Self.timesCost
                let seen = DeviceGlance.lastSeen(slot, in: core, now: now)
                if let seen, seen > since { continue }
            }
            page.insert(key.id)
        }
        page.place = place < core.devices.count ? place : nil
    }

    /// The devices of the page, after all slots were read. `next` is the last id if there are more.
    package func views(
        of core: borrowing Core, now: Instant
    ) -> (views: [DeviceView], next: Identifier?) {
        return page.views(
            size: { id in
                let slot = core.devices.slot(of: DeviceKey(tenant: filter.tenant, id: id))
                guard let slot, let device = core.devices[slot] else { return 0 }
                return IDPage.glanceBytes + device.tokens.count * IDPage.tokenBytes
                    + device.destinations.count * IDPage.cardBytes
            },
            view: { core.deviceView(DeviceKey(tenant: filter.tenant, id: $0), now: now) })
    }
}

/// How a device is now, in a line of a list.
package struct DeviceGlance: Sendable {
    /// Wall time for which this is.
    package let at: Instant
    /// Wall time of the newest request of the device or about it. After a restart: of the newest
    /// that is stored. Nil if there is none.
    package private(set) var lastSeen: Instant?
    /// Up to `namesMax` activities whose cards are on the phone, newest first.
    package private(set) var shows: [Identifier] = []
    /// How many activities have cards on the phone.
    package private(set) var showsCount = 0
    /// Pushes of priority 10 that are left of the device's budget; nil if it has no limit.
    package private(set) var left: Int64?
    /// How many come back in an hour; nil if there is no limit.
    package private(set) var perHour: Double?

    /// Maximum number of activities that are named.
    package static let namesMax = 3

    init(_ device: Device, _ slot: DeviceSlot, in core: borrowing Core, now: Instant) {
        at = core.wall(now)
        lastSeen = Self.lastSeen(slot, in: core, now: now)
        var grant: Grant?
        var seen: Set<Identifier> = []
        for index in device.destinations.reversed() {
            guard let destination = core.destinations.at(index), !destination.isFinished else {
                continue
            }
            if grant == nil { grant = core.grantInForce(destination).grant }
            let hasBegun = [.started, .live].contains(destination.phase)
            let report = device.reports[core.reference(destination)]
            guard hasBegun || report?.phase == .active, !destination.isOverOnPhone else { continue }
            let id = core.activities[destination.activity].key.id
            guard seen.insert(id).inserted else { continue }
            if shows.count < Self.namesMax { shows.append(id) }
        }
        showsCount = seen.count
        let nested = core.deviceBudget(
            slot, grant ?? core.configuration.budgets[device.budgetClass])
        left = nested.map { $0.spent.bucket.left($0.grant, now: now) }
        perHour = nested?.grant.perHour
    }

    /// Wall time of the last sign of life that the relay knows of.
    static func lastSeen(
        _ slot: DeviceSlot, in core: borrowing Core, now: Instant
    ) -> Instant? {
        let spoke = core.devices.budgets[slot].spokeAt
        if spoke > .distantPast { return core.wall(spoke) }
        guard let device = core.devices[slot] else { return nil }
        var newest = max(device.joinedAt, device.reconciledAt)
        for (_, token) in device.tokens.all { newest = max(newest, token.registeredAt) }
        if let heard = device.heard?.presence.heardAt, heard > .distantPast {
            newest = max(newest, core.wall(heard))
        }
        return newest > .distantPast ? min(newest, core.wall(now)) : nil
    }
}
