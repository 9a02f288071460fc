/// What the relay knows about one token of a device. All texts about tokens are made here.
package struct TokenStanding: Hashable, Sendable {
    /// Apple's answer that a token is dead, or that it belongs to another app or environment.
    package struct Refusal: Hashable, Sendable {
        package var at: Instant
        /// For example `400 BadDeviceToken`; nil if an older relay recorded the refusal.
        package var answer: String?
        /// The environment to which the push was sent; nil if an older relay recorded the refusal.
        package var environment: APNsEnvironment?

        /// True if Apple will never accept this token for the app, so that a retry is useless.
        package var isMisplaced: Bool { answer?.hasPrefix("400 ") ?? false }

        var text: String {
            let answer = answer.map { ": \($0)" } ?? ""
            return "at \(at.rfc3339)\(answer)" + (environment.map { " (\($0.name))" } ?? "")
        }
    }

    package var name: TokenName
    /// True if the device has a token. If there is also a `refusal`, the app has registered the
    /// refused token again.
    package var isThere: Bool
    /// Apple's refusal, until the app registers another token.
    package var refusal: Refusal?

    /// Why nothing can be sent to the token, as a clause; nil if the device has the token.
    package var lack: String? { isThere ? nil : refused ?? "the device has no \(shown)" }

    /// Apple's refusal as a clause; nil if there was no refusal.
    package var refused: String? {
        refusal.map { "Apple refused the device's \(shown) \($0.text)" }
    }

    /// What people can do about the refusal, as a sentence.
    package var cure: String {
        switch refusal?.answer {
        case "400 BadDeviceToken"?:
            "Such a token is of the other environment, or was changed on its way: compare the "
                + "device's \"environment\" with how its app was installed."
        case "400 DeviceTokenNotForTopic"?:
            "Such a token is another app's: compare the app's id in the configuration."
        default: "The app registers another one at its launch, if it is still there."
        }
    }

    /// A warning that a start token is older than a change of the phone's system or app.
    package static func doubt(since changedAt: Instant) -> String {
        "The app registered its start token before the phone's \"os\" or \"app_version\" changed, "
            + "at \(changedAt.rfc3339). After such a step the token may be dead, and Apple takes "
            + "pushes all the same. If no card comes, switch the app's Live Activities off and on "
            + "in the phone's settings."
    }

    private var shown: String { "token \"\(name.text)\"" }
}

extension Device {
    func standing(of name: TokenName) -> TokenStanding {
        TokenStanding(
            name: name, isThere: tokens[name] != nil, refusal: retired[name].map(\.refusal))
    }

    /// Stores a new registration of the device, and notes a change of the system or the app
    /// version.
    mutating func update(_ new: DeviceRegistration, at wall: Instant) {
        func isOther(_ old: String?, _ new: String?) -> Bool {
            old != nil && new != nil && !isSameText(old, new)
        }
        if isOther(common.os, new.os) || isOther(common.appVersion, new.appVersion) {
            changedAt = wall
        }
        registration = new
    }

    /// When the change happened that puts this start token in doubt; nil if the token is not in
    /// doubt.
    func doubtsToken(_ name: TokenName) -> Instant? {
        guard case .start = name, let changedAt, let token = tokens[name],
            token.registeredAt < changedAt
        else { return nil }
        return changedAt
    }

    /// Removes the doubt if a start that was sent at `moment` has begun a card.
    mutating func noteBegun(_ type: String, at moment: Instant) {
        // A start from before the change does not prove that the token has survived it.
        if let change = doubtsToken(.start(type: type)), moment >= change { changedAt = nil }
    }

    /// A lint for each token that Apple has refused and the app sends again.
    func refusedTokenLints(of set: [(name: TokenName, registration: TokenRegistration)]) -> [Lint] {
        set.compactMap { name, registration in
            guard retired[name]?.value == PushToken(registration.token) else { return nil }
            let standing = standing(of: name)
            return Lint(
                .tokenRefused, "/token",
                "is the same as before: \(standing.refused ?? ""). \(standing.cure)")
        }
    }
}

extension Lint {
    /// A lint that Apple refused the card's token; nil if the token was not refused or was
    /// replaced.
    static func ofRefusal(
        _ standing: TokenStanding, on device: Identifier?, _ pointer: String
    ) -> Lint? {
        guard !standing.isThere, let refused = standing.refused else { return nil }
        return Lint(
            .tokenRefused, pointer,
            "\(device?.rawValue ?? "a device"): \(refused), and nothing goes there until the app "
                + "registers another. \(standing.cure)")
    }
}
