/// What the relay knows of one token of a device: the one place that says so, for all texts.
package struct TokenStanding: Hashable, Sendable {
    /// Apple's word that a token is dead, or is another app's or the other environment's.
    package struct Refusal: Hashable, Sendable {
        package var at: Instant
        /// Such as `400 BadDeviceToken`; nil where an older relay kept it.
        package var answer: String?
        /// Where Apple was asked; nil as above.
        package var environment: APNsEnvironment?

        /// Apple never takes this token for the app there: another try changes nothing.
        package var isMisplaced: Bool { answer?.hasPrefix("400 ") ?? false }

        var text: String {
            let answer = answer.map { ": \($0)" } ?? ""
            return "at \(at.rfc3339)\(answer)" + (environment.map { " (\($0.name))" } ?? "")
        }
    }

    package var name: TokenName
    /// The device has one. Where `refusal` is there too, it is the same token once more.
    package var isThere: Bool
    /// Since then the app has registered no other token.
    package var refusal: Refusal?

    /// Why nothing can go to it, as a clause; nil where something can.
    package var lack: String? { isThere ? nil : refused ?? "the device has no \(shown)" }

    /// Apple's refusal, as a clause; nil where there is none.
    package var refused: String? {
        refusal.map { "Apple refused the device's \(shown) \($0.text)" }
    }

    /// What is to be done about a refusal, in a sentence.
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

    /// Of a start token that the app registered before that change of its system or itself.
    package static func doubt(since changedAt: Instant) -> String {
        "The app registered its start token before the phone's \"os\" or \"app_version\" changed, "
            + "at \(changedAt.rfc3339). After such a step the token may be dead, and Apple takes "
            + "pushes all the same. If no card comes, switch the app's Live Activities off and on "
            + "in the phone's settings."
    }

    private var shown: String { "token \"\(name.text)\"" }
}

extension Device {
    /// What is known of a token.
    func standing(of name: TokenName) -> TokenStanding {
        TokenStanding(
            name: name, isThere: tokens[name] != nil, refusal: retired[name].map(\.refusal))
    }

    /// The same installation has another registration.
    mutating func update(_ new: DeviceRegistration, at wall: Instant) {
        func isOther(_ old: String?, _ new: String?) -> Bool {
            old != nil && new != nil && !isSameText(old, new)
        }
        if isOther(common.os, new.os) || isOther(common.appVersion, new.appVersion) {
            changedAt = wall
        }
        registration = new
    }

    /// Since which change a start token is doubted; nil where it is not.
    func doubtsToken(_ name: TokenName) -> Instant? {
        guard case .start = name, let changedAt, let token = tokens[name],
            token.registeredAt < changedAt
        else { return nil }
        return changedAt
    }

    /// A card has begun by a start of that moment.
    mutating func noteBegun(_ type: String, at moment: Instant) {
        // What began by a newer token tells nothing of older ones.
        if let change = doubtsToken(.start(type: type)), moment >= change { changedAt = nil }
    }

    /// What is said where Apple refused these very tokens before.
    func lints(ofAgain set: [(name: TokenName, registration: TokenRegistration)]) -> [Lint] {
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
    /// Nothing goes to a card, for Apple refused the token; nil where it did not.
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
