/// What the key behind a request may say of a device.
package enum DeviceAuthority: Hashable, Sendable {
    /// Scope `operate`: any user and any app.
    case operate
    /// A key of the device's own: the user and the app that the key is bound to. Without them the
    /// key sets none, and what an operator has set stays.
    case device(user: String?, app: String?)
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
        guard case .device(let user, let app) = self else { return registration }
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

    /// Throws where the key was made for another person than the one who has the device now: its
    /// taps would count as theirs.
    func checkPerson(of device: Device) throws(Refusal) {
        guard case .device(let bound?, _) = self, let user = device.registration.user,
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
