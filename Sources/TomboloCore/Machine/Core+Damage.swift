import TomboloJSON

// Activities that cannot be followed: shown with the reason, and left alone.

extension Core {
    /// An activity that start-up has set aside.
    struct SetAside: Sendable {
        let activity: DamagedActivity
        let traits: DamagedActivity.Traits
    }

    /// Sets an activity aside. Answers a line for the operator.
    mutating func setAside(_ activity: DamagedActivity) -> String {
        let number = activity.number
        if (0..<ActivityNumber.max).contains(number.rawValue) {
            nextActivityNumber = max(nextActivityNumber, number.rawValue + 1)
        }
        guard let traits = activity.traits else {
            return "activity number \(number.rawValue) is damaged, and nobody sees it: "
                + activity.reason
        }
        let key = traits.key
        // One that lives has begun anew under the id.
        if activityByKey[key] == nil {
            damaged[key] = SetAside(activity: activity, traits: traits)
        }
        return "activity \(key.id) of \(key.tenant.name) (number \(number.rawValue)) is damaged: "
            + "\(activity.reason); nothing of it is pushed until it is started anew"
    }

    /// Why nothing is done with it.
    func refusal(of key: ActivityKey) -> Refusal? {
        guard !damaged.isEmpty, let one = damaged[key] else { return nil }
        return Refusal(
            .activityDamaged,
            "the activity is damaged: \(one.activity.reason); start it anew with PUT and "
                + "?restart=true")
    }

    /// The number of the damaged activity in whose place this one has begun.
    func replacedNumber(by slot: Int) -> ActivityNumber? {
        damaged.isEmpty ? nil : damaged[activities[slot].key]?.activity.number
    }

    /// The id behind a number, if it is that tenant's.
    func damagedName(of number: ActivityNumber, tenant: TenantID) -> Identifier? {
        let found = damaged.first { $0.value.activity.number == number }?.key
        return found?.tenant == tenant ? found?.id : nil
    }

    /// As readers see it.
    func damagedView(_ key: ActivityKey) -> ActivityView? {
        guard !damaged.isEmpty, let one = damaged[key] else { return nil }
        return ActivityView(
            key: key, number: one.activity.number, incarnation: max(1, one.traits.incarnation),
            type: one.traits.type, app: one.traits.app, status: .damaged,
            version: one.activity.version, seq: one.activity.seq,
            tenantSeq: one.activity.tenantSeq, state: .emptyObject, relevance: nil, staleAt: nil,
            clip: nil, destinations: [],
            damage: one.activity.reason)
    }

    /// Those of a tenant, in the order of their ids, after one.
    func damagedViews(
        of tenant: TenantID, type: String?, after: Identifier?, limit: Int
    ) -> [ActivityView] {
        guard !damaged.isEmpty else { return [] }
        return damaged.values.filter { one in
            one.traits.key.tenant == tenant && type ?? one.traits.type == one.traits.type
                && (after.map { $0 < one.traits.key.id } ?? true)
        }.map(\.traits.key).sorted { $0.id < $1.id }.prefix(limit).compactMap(damagedView)
    }
}
