/// What a request's key may change of a device.
package enum DeviceAuthority: Hashable, Sendable {
    /// Scope `operate`: any user and any app.
    case operate
    /// A device's own key: the user and the app that the key is bound to, and the key's place in
    /// the order of minting. A key without user or app sets neither, and keeps what an operator has
    /// set.
    case device(user: String?, app: String?, key: Int64)
}

/// The user of a device, and the newest key of that user.
///
/// Keys are numbered in the order of minting, and numbers are never used again; a replacement keeps
/// its predecessor's place. So the key of a former user is recognised without any clock.
struct DeviceOwner: Hashable, Sendable {
    /// nil: an operator has removed the user.
    var user: String?
    /// The user's newest key; if an operator set the user, the newest key at that moment.
    var key: Int64
}

extension DeviceAuthority {
    /// The registration within the key's rights. Throws `userNotBound` if it names another user or
    /// app: a client that could choose a user would get that user's cards.
    ///
    /// - Parameters:
    ///   - known: the present registration.
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

    /// Throws `keyOfFormerUser` if the key was minted for a former user of the device. Does nothing
    /// if the device never had a user.
    func checkOwner(_ owner: DeviceOwner?, of device: Identifier) throws(Refusal) {
        guard case .device(let bound?, _, let key) = self, let owner, key <= owner.key,
            !isSameText(bound, owner.user)
        else { return }
        throw Refusal(
            .keyOfFormerUser,
            "the key was minted for a user who had device \"\(device)\" before; mint a key for "
                + "the user who has signed in, and delete this one")
    }

    /// The owner of the device after a registration by this key.
    ///
    /// - Parameters:
    ///   - known: the present owner.
    ///   - user: the user in the present registration.
    ///   - forgetsUser: the registration removes the user; a merely missing user changes nothing.
    ///   - newest: the newest key ever minted.
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

    /// Throws if the key belongs to another person than the device's present user: its taps would
    /// count as that user's.
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
