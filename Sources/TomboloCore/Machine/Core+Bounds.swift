// Limits of what may be stored. They are checked before anything is stored; each refusal names its
// limit.

/// How many slots the core's tables have, including free ones.
package struct TablePlaces: Hashable, Sendable {
    package var activities, devices, destinations, surfaces: Int
}

extension Core {
    package var places: TablePlaces {
        TablePlaces(
            activities: activities.count, devices: devices.count,
            destinations: destinations.indices.count, surfaces: surfaces.count)
    }

    /// Throws if a start would exceed a limit of its tenant, users, devices or channel.
    ///
    /// - Parameter isTry: true for a dry run: it ignores limits of cards if ended activities might
    ///   make room.
    func checkAudience(
        _ start: Start, _ key: ActivityKey, isTry: Bool = false
    ) throws(Refusal) {
        let (tenant, limits) = (key.tenant, configuration.limits)
        let mayHaveRoom = isTry && activities.retirements.count > 0
        try activities.checkRunning(of: tenant, limits)
        if !mayHaveRoom {
            let more = devices.cards(of: start.audience, tenant)
            try audiences.checkCards(more: more, of: tenant, limits)
        }
        switch start.audience {
        case .none: break
        case .channel: try checkChannel(start, key)
        case .user(let user):
            let key = UserKey(tenant: tenant, user: user)
            try ActivityTable.checkRunning(
                audiences.running(of: key), "the user \"\(user)\"", limits)
            if !mayHaveRoom { try checkReach(devices.slots(of: key), others: 0) }
        case .devices(let ids):
            var known: [DeviceSlot] = []
            for id in ids {
                let key = DeviceKey(tenant: tenant, id: id)
                let device = devices.slot(of: key)
                let named = device.map { devices[$0]?.audience.count ?? 0 }
                try ActivityTable.checkRunning(
                    audiences.running(of: key, named: named), "the device \"\(id)\"", limits)
                if let device { known.append(device) }
            }
            if !mayHaveRoom { try checkReach(known, others: ids.count - known.count) }
        }
    }

    /// Throws if all devices of the audience have the maximum number of cards. If only some have,
    /// they are left out.
    private func checkReach(_ known: [DeviceSlot], others: Int) throws(Refusal) {
        guard others == 0, let first = known.first,
            known.allSatisfy({ devices.isFull($0, configuration.limits) })
        else { return }
        try devices.checkCards(of: first, more: 1, configuration.limits)
    }

    /// Throws if a registration would exceed a limit of the tenant, the user or the device.
    func checkBounds(
        _ registration: DeviceRegistration, _ key: DeviceKey, known: DeviceSlot?
    ) throws(Refusal) {
        let limits = configuration.limits
        if known == nil { try devices.checkCount(of: key.tenant, limits) }
        guard let user = registration.user,
            known.flatMap({ devices[$0]?.registration.user }) != user
        else { return }
        let key = UserKey(tenant: key.tenant, user: user)
        let count = devices.slots(of: key).count
        guard count < limits.devicesPerUserMax else {
            throw .full(
                "the user \"\(user)\" has \(count) devices", "devices_per_user",
                "delete those that are gone (DELETE /v1/devices/{device})")
        }
        let cards = audiences.running(of: key)
        try audiences.checkCards(more: cards, of: key.tenant, limits)
        if let known { try devices.checkCards(of: known, more: cards, limits) }
    }
}
