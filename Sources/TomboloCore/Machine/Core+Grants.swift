// What a destination may be sent.

extension Core {
    func grantInForce(_ destination: Destination) -> GrantInForce {
        grantInForce(device: destination.device, activity: destination.activity)
    }

    /// The same for one that is there.
    func grantInForce(_ slot: Int) -> GrantInForce {
        grantInForce(
            device: destinations[lent: slot].device, activity: destinations[lent: slot].activity)
    }

    private func grantInForce(device: Int, activity: Int) -> GrantInForce {
        let budgetClass = budgetClass(device: device, activity: activity)
        return GrantInForce(
            budgetClass: budgetClass, grant: configuration.budgets[budgetClass])
    }

    /// The device's where an operator set one, else the type's.
    private func budgetClass(device: Int, activity: Int) -> BudgetClass {
        let device = devices.traits(device)
        if device.isChannel { return .channel }
        guard !device.hasOwnClass, !types.isEmpty else { return device.budgetClass }
        let own = type(
            of: activities[activity].definition, activities[activity].key.tenant)?.budgetClass
        if own == .frequent, !device.mayBeFrequent { return .standard }
        return own ?? device.budgetClass
    }
}
