/// What the key behind a request may say of a device.
package enum DeviceAuthority: Hashable, Sendable {
    /// Scope `operate`: any user and any app.
    case operate
    /// A key of the device's own: the user and the app that the key is bound to, and the key's
    /// place in the order in which keys were minted. Without user and app the key sets none, and
    /// what an operator has set stays.
    case device(user: String?, app: String?, key: Int64)
}

/// Whose a device is, and since which key.
///
/// Keys are numbered in the order in which they are minted, and no number is given twice; one that
/// replaces another has its place. So a key of the user before is known whatever a clock says.
struct DeviceOwner: Hashable, Sendable {
    /// nil: an operator has forgotten the user.
    var user: String?
    /// The newest key of the user. Where an operator gave the user: the newest of that moment.
    var key: Int64
}

extension DeviceAuthority {
    /// The registration as the key may make it. Throws `userNotBound` where it names another user
    /// or app: whoever may choose a user gets that user's cards.
    ///
    /// - Parameters:
    ///   - known: the device as it is registered.
    ///   - onlyApp: the app of a tenant that has only one.
    func bind(
        _ registration: DeviceRegistration, known: DeviceRegistration?, onlyApp: String?
    ) throws(Refusal) -> DeviceRegistration {
        guard case .device(let user, let app, _) = self else { return registration }
        var bound = registration
        bound.user = user ?? known?.user
        bound.app = app ?? known?.app
        var faults: [FieldError] = []
        let forgetsUser = registration.forgets.contains(.user)
        if registration.user != nil || forgetsUser, !isSameText(registration.user, bound.user) {
            faults.append(FieldError(pointer: "/user", message: Self.fault(user, "user")))
        }
        let forgetsApp = registration.forgets.contains(.app) && bound.app != nil
        if forgetsApp || registration.app.map({ $0 != bound.app ?? onlyApp }) == true {
            faults.append(FieldError(pointer: "/app", message: Self.fault(app, "app")))
        }
        guard faults.isEmpty else {
            throw Refusal(
                .userNotBound,
                "a device registers only with the user and the app that its key is bound to; mint "
                    + "the key with \"user\" and \"app\", or leave both out",
                errors: faults)
        }
        return bound
    }

    /// Throws `keyOfFormerUser` where the key was minted for a user who had the device before.
    /// Where nobody ever had it, no key is a former user's.
    func checkOwner(_ owner: DeviceOwner?, of device: Identifier) throws(Refusal) {
        guard case .device(let bound?, _, let key) = self, let owner, key <= owner.key,
            !isSameText(bound, owner.user)
        else { return }
        throw Refusal(
            .keyOfFormerUser,
            "the key was minted for a user who had device \"\(device)\" before; mint a key for "
                + "the user who has signed in, and delete this one")
    }

    /// Whose the device is after a registration by this key.
    ///
    /// - Parameters:
    ///   - known: whose it was.
    ///   - user: whose it was, as it is registered now.
    ///   - forgetsUser: the registration says that nobody has it; without a user it says nothing.
    ///   - newest: the newest key that was ever minted.
    func owner(
        after registration: DeviceRegistration, known: DeviceOwner?, user: String?,
        forgetsUser: Bool, newest: Int64
    ) -> DeviceOwner? {
        switch self {
        case .device(nil, _, _): return known
        case .device(.some, _, let key):
            return DeviceOwner(user: registration.user, key: max(key, known?.key ?? 0))
        case .operate:
            let was = known.map(\.user) ?? user
            guard registration.user != nil || forgetsUser else { return known }
            guard !isSameText(was, registration.user) else { return known }
            return DeviceOwner(user: registration.user, key: newest)
        }
    }

    /// Throws where the key was made for another person than the one who has the device now: its
    /// taps would count as theirs.
    func checkPerson(of device: Device) throws(Refusal) {
        guard case .device(let bound?, _, _) = self, let user = device.registration.user,
            !isSameText(bound, user)
        else { return }
        throw Refusal(
            .notOffered,
            "the key is bound to another user than device \"\(device.key.id)\" has; use a key of "
                + "the user who has signed in")
    }

    private static func fault(_ bound: String?, _ name: String) -> String {
        bound == nil
            ? "must be left out: the key is bound to no \(name)"
            : "must be the \(name) that the key is bound to"
    }
}
