// Which grant applies to a destination.

extension Core {
    func grantInForce(_ destination: Destination) -> GrantInForce {
        grantOfCard(
            device: destination.device, activity: destination.activity, destination.upstream)
    }

    /// The grant of the destination in this slot.
    func grantInForce(_ slot: CardSlot) -> GrantInForce {
        grantOfCard(
            device: destinations[slot].device, activity: destinations[slot].activity,
            destinations[slot].upstream)
    }

    private func grantOfCard(
        device: DeviceSlot, activity: ActivitySlot, _ upstream: UpstreamNumber
    ) -> GrantInForce {
        inForce(budgetClass(device: device, activity: activity), upstream)
    }

    /// The grant of a destination for an activity that does not exist yet.
    func grantInForce(
        device: DeviceSlot, _ definition: Activity.Definition, _ tenant: TenantID,
        _ upstream: UpstreamNumber
    ) -> GrantInForce {
        inForce(budgetClass(device: device, definition, tenant), upstream)
    }

    /// The grant of a class. Class `lab` is for simulators only: if the upstream does not allow it,
    /// class `standard` applies. The configuration may have changed since the class was set.
    private func inForce(_ asked: BudgetClass, _ upstream: UpstreamNumber) -> GrantInForce {
        let isRefused = asked == .lab && !configuration[upstream].allowsLab
        let budgetClass = isRefused ? .standard : asked
        return GrantInForce(
            budgetClass: budgetClass, grant: configuration.budgets[budgetClass])
    }

    /// The budget class: `channel` for a channel, else the operator's for the device, else the
    /// type's.
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
