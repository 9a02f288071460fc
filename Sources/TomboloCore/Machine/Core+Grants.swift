// What a destination may be sent.

extension Core {
    func grantInForce(_ destination: Destination) -> GrantInForce {
        grantInForce(
            device: destination.device, activity: destination.activity, destination.lane)
    }

    /// The same for one that is there.
    func grantInForce(_ slot: CardSlot) -> GrantInForce {
        grantInForce(
            device: destinations[slot].device, activity: destinations[slot].activity,
            destinations[slot].lane)
    }

    private func grantInForce(
        device: DeviceSlot, activity: ActivitySlot, _ lane: LaneNumber
    ) -> GrantInForce {
        inForce(budgetClass(device: device, activity: activity), lane)
    }

    /// The same for an activity that is not there yet.
    func grantInForce(
        device: DeviceSlot, _ definition: Activity.Definition, _ tenant: TenantID,
        _ lane: LaneNumber
    ) -> GrantInForce {
        inForce(budgetClass(device: device, definition, tenant), lane)
    }

    /// Class `lab` is for simulators only: the configuration may have changed since it was given,
    /// and a type's is of both environments.
    private func inForce(_ asked: BudgetClass, _ lane: LaneNumber) -> GrantInForce {
        let isRefused = asked == .lab && !configuration[lane].allowsLab
        let budgetClass = isRefused ? .standard : asked
        return GrantInForce(
            budgetClass: budgetClass, grant: configuration.budgets[budgetClass])
    }

    /// The device's where an operator set one, else the type's.
    private func budgetClass(device: DeviceSlot, activity: ActivitySlot) -> BudgetClass {
        let traits = devices.traits(device)
        if traits.isChannel { return .channel }
        guard !traits.hasOwnClass, !types.isEmpty else { return traits.budgetClass }
        return budgetClass(
            device: device, activities[activity].definition, activities[activity].key.tenant)
    }

    private func budgetClass(
        device: DeviceSlot, _ definition: Activity.Definition, _ tenant: TenantID
    ) -> BudgetClass {
        let traits = devices.traits(device)
        if traits.isChannel { return .channel }
        guard !traits.hasOwnClass else { return traits.budgetClass }
        let own = types.type(of: definition, tenant)?.budgetClass
        if own == .frequent, !traits.mayBeFrequent { return .standard }
        return own ?? traits.budgetClass
    }
}
