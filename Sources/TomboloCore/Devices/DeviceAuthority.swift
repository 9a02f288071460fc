/// What the key of a request may change in a device.
package enum DeviceAuthority: Hashable, Sendable {
    /// Scope `operate`: any user and any app.
    case operate
    /// A device's own key, with the user and the app to which it is bound, and its number in the
    /// order of minting. A key without a user or an app cannot set that value, but keeps the value
    /// that an operator has set.
    case device(user: String?, app: String?, key: Int64)
}

/// The user of a device, and the newest key of that user.
///
/// Keys are numbered in the order of minting, and a number is never used again. A key that replaces
/// another gets its number. So the key of a former user is recognised without a clock.
struct DeviceOwner: Hashable, Sendable {
    /// nil if the user was removed.
    var user: String?
    /// The number of the user's newest key. If an operator has set the user: the number of the
    /// newest key of all at that time.
    var key: Int64
    /// The number of the newest key of all when the device was last erased. No key up to it opens
    /// the device, whatever user it is of. 0 if it was never erased.
    var erasedThrough: Int64 = 0
}

extension DeviceAuthority {
    /// The registration with the user and the app of the key. Throws `userNotBound` if the request
    /// names others: a client that could choose its user would get that user's cards.
    ///
    /// - Parameters:
    ///   - known: the device's registration so far.
    ///   - onlyApp: the tenant's app if it has exactly one.
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

    /// Throws if the key may not register the device (`PUT`): it is too old.
    ///
    /// - Parameter owner: nil if the device never had one; then any key may.
    func checkRegistration(_ owner: DeviceOwner?, of device: Identifier) throws(Refusal) {
        guard case .device(let bound, _, let key) = self, let owner else { return }
        if key <= owner.erasedThrough {
            throw Refusal(
                .keyOfFormerUser,
                "the key was minted before device \"\(device)\" was erased; mint another key for the "
                    + "user who has signed in, and delete this one")
        }
        guard let bound, key <= owner.key, !isSameText(bound, owner.user) else { return }
        throw Refusal(
            .keyOfFormerUser,
            "the key was minted for a user who had device \"\(device)\" before; mint a key for "
                + "the user who has signed in, and delete this one")
    }

    /// Throws if the key may not do anything else for the device: its user is not the device's.
    /// The order of keys says nothing here, because a key may be minted long before its user signs
    /// in.
    ///
    /// - Parameter user: the device's user; nil if it has none.
    func checkUser(_ user: String?, of device: Identifier) throws(Refusal) {
        guard case .device(let bound, _, _) = self, !isSameText(bound, user) else { return }
        throw Refusal(
            .keyNotSignedIn,
            bound == nil
                ? "device \"\(device)\" has a user, and the key is bound to none; mint a key with "
                    + "\"user\" for the app"
                : "the key's user has not signed in on device \"\(device)\"; PUT the device with "
                    + "this key first")
    }

    /// The owner of the device after a registration with this key.
    ///
    /// - Parameters:
    ///   - known: the owner so far.
    ///   - user: the user in the registration so far.
    ///   - forgetsUser: true if the request sets the user to null; a missing user changes nothing.
    ///   - newest: the number of the newest key of all.
    func owner(
        after registration: DeviceRegistration, known: DeviceOwner?, user: String?,
        forgetsUser: Bool, newest: Int64
    ) -> DeviceOwner? {
        switch self {
        case .device(nil, _, _): return known
        case .device(.some, _, let key):
            return DeviceOwner(
                user: registration.user, key: max(key, known?.key ?? 0),
                erasedThrough: known?.erasedThrough ?? 0)
        case .operate:
            let was = known.map(\.user) ?? user
            guard registration.user != nil || forgetsUser else { return known }
            guard !isSameText(was, registration.user) else { return known }
            return DeviceOwner(
                user: registration.user, key: newest, erasedThrough: known?.erasedThrough ?? 0)
        }
    }

    private static func fault(_ bound: String?, _ name: String) -> String {
        bound == nil
            ? "must be left out: the key is bound to no \(name)"
            : "must be the \(name) that the key is bound to"
    }
}
