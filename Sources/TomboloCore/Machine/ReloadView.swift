/// The reload of a device's widgets, or of one control there: whether one is wanted, and what it
/// waits for.
package struct ReloadView: Hashable, Sendable {
    /// Why a reload has not gone yet.
    package enum Holder: String, Hashable, Sendable {
        /// The device has no token for it.
        case token = "no_token"
        /// The least time between two reloads of a device.
        case spacing
        /// The hour's reloads of a device are spent.
        case budget
        /// An operator's pause.
        case pause = "paused"
        /// Apple has refused, or did not answer: it goes again.
        case backOff = "retry"
        /// The way to Apple is closed, or others are before it.
        case lane
        /// It is under way: no answer yet.
        case inFlight = "in_flight"
    }

    /// By wall time, the newest push; nil: none since the relay's start.
    package var sentAt: Instant?
    /// nil: nothing is wanted.
    package var holder: Holder?
    /// By wall time: until when it waits, where that is known.
    package var until: Instant?
    /// The class whose grant it spends: `widget` or `control`.
    package let budgetClass: BudgetClass
    /// Of that class.
    package var spacing: Span
    /// Names the device as long as the same person has it: a hash.
    package let owner: Int64
    /// What is known of the device's token for it.
    package var token: TokenStanding

    /// Nil where the device is not known.
    ///
    /// - Parameter name: `widget`, or that of a control.
    package init?(
        _ name: TokenName = .widget, of key: DeviceKey, in core: Core, now: Instant
    ) {
        guard let slot = core.devices.slot(of: key), let device = core.devices[slot] else {
            return nil
        }
        budgetClass = name == .widget ? .widget : .control
        let grant = core.configuration.budgets[budgetClass]
        spacing = grant.spacing
        owner =
            device.number
            ^ (device.registration.user.map { core.deliveryIDs.owner($0, key.tenant) } ?? 0)
        token = device.standing(of: name)
        let surface = device.surfaces[name].map { core.surfaces[$0] }
        if let last = surface?.lastSend, last != .distantPast { sentAt = core.wall(last) }
        guard token.isThere else {
            holder = surface?.phase == .wanted ? .token : nil
            return
        }
        guard let surface else { return }
        switch surface.phase {
        case .idle: return
        case .inFlight: holder = .inFlight
        case .wanted, .reserving, .granted:
            let budgetAt =
                surface.holdsToken
                ? now : surface.bucket.time(keeping: 0, of: grant, now: now) ?? now
            let waits: [(Holder, Instant)] = [
                (.spacing, surface.lastSend + grant.spacing), (.backOff, surface.backOffUntil),
                (.budget, budgetAt),
            ]
            let last = waits.max { $0.1 < $1.1 } ?? (.lane, now)
            if core.isReloadPaused(device) {
                holder = .pause
            } else if last.1 > now {
                (holder, until) = (last.0, core.wall(last.1))
            } else {
                holder = .lane
            }
        }
    }
}
