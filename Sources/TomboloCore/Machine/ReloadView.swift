/// How far the reload of a device's widgets, or of one control, has come.
package struct ReloadView: Hashable, Sendable {
    /// Why a reload has not been sent yet.
    package enum Holder: String, Hashable, Sendable {
        /// The device has no token for it.
        case token = "no_token"
        /// The time since the last reload is still too short.
        case spacing
        /// The device's budget of reloads is spent.
        case budget
        /// An operator has paused pushes.
        case pause = "paused"
        /// Apple refused it or did not answer. It will be sent again.
        case backOff = "retry"
        /// The upstream is closed, or other pushes come first.
        case upstream
        /// It was sent, and Apple has not answered yet.
        case inFlight = "in_flight"
    }

    /// Wall time of the newest push; nil if none was sent since the relay's start.
    package var sentAt: Instant?
    /// nil if no reload is needed.
    package var holder: Holder?
    /// Wall time until which it waits, if known.
    package var until: Instant?
    /// The class of its grant: `widget` or `control`.
    package let budgetClass: BudgetClass
    /// The minimum time between two reloads in this class.
    package var spacing: Span
    /// A value that identifies the device and its user.
    package let owner: Int64
    /// What the relay knows about the device's token for reloads.
    package var token: TokenStanding

    /// Returns nil if the device is unknown.
    ///
    /// - Parameter name: `widget`, or the name of a control's token.
    package init?(
        _ name: TokenName = .widget, of key: DeviceKey, in core: borrowing Core, now: Instant
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
            let last = waits.max { $0.1 < $1.1 } ?? (.upstream, now)
            if core.isReloadPaused(device) {
                holder = .pause
            } else if last.1 > now {
                (holder, until) = (last.0, core.wall(last.1))
            } else {
                holder = .upstream
            }
        }
    }
}
