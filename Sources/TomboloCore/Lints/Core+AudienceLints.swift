// Lints about recipients who cannot see a started activity.

extension Core {
    /// If more types are registered, none is suggested for a misspelt one.
    private static let comparedTypesMax = 256
    /// Maximum number of devices whose tokens are checked.
    private static let lintedDevicesMax = 16

    /// Why no phone, or not every phone, can show a started activity now. The start is not refused,
    /// because devices, types and tokens may be registered later.
    func audienceLints(
        _ start: Start, _ activity: Activity, _ type: ActivityType?
    ) -> [Lint] {
        let tenant = activity.key.tenant
        guard configuration.apps.contains(where: { $0.tenant == tenant }) else {
            return [
                Lint(
                    .appNotConfigured, "/app",
                    "no app is configured in this relay: the log keeps the activity, and nothing "
                        + "is pushed; apps are added in the configuration file, under \"apps\"")
            ]
        }
        var lints: [Lint] = []
        switch start.audience {
        case .none:
            lints.warn(
                .audienceMissing, "/audience",
                "is missing: the log keeps the activity, and no phone shows it; name a device, "
                    + "devices, a user or a channel")
        case .devices(let ids):
            let names = start.mayLearnNames ? devices.few(of: tenant).map(\.id.rawValue) : []
            let strangers = ids.filter {
                self.devices.slot(of: DeviceKey(tenant: tenant, id: $0)) == nil
            }
            if let first = strangers.first {
                let name =
                    ids.count == 1
                    ? "device \"\(first)\" is"
                    : "\(strangers.count) of \(ids.count) devices, such as \"\(first)\", are"
                lints.warn(
                    .deviceNotRegistered, "/audience",
                    "\(name) not registered: the card appears there only after the app "
                        + "registers, PUT /v1/devices/{device}"
                        + didYouMean(nearestName(to: first.rawValue, among: names)))
            }
        case .user(let user):
            let users = start.mayLearnNames ? devices.fewUsers(of: tenant) : []
            if devices.slots(of: UserKey(tenant: tenant, user: user)).isEmpty {
                lints.warn(
                    .userWithoutDevice, "/audience/user",
                    "no device of user \"\(user)\" is registered: the card appears only after "
                        + "one is, PUT /v1/devices/{device} with \"user\""
                        + didYouMean(nearestName(to: user, among: users)))
            }
        case .channel: break
        }
        let devices = audience(of: activity.definition, tenant).prefix(Self.lintedDevicesMax)
        for slot in devices {
            let found = [
                lintOfAnotherApp(slot, activity.definition),
                self.devices[slot]?.startLint(start, activity.reference),
            ]
            lints += found.compactMap(\.self).filter { !lints.contains($0) }
        }
        if type == nil, let lint = typeLint(start, activity, Array(devices)) { lints.append(lint) }
        return lints
    }

    /// The lint for a device of another app, which cannot show the activity; else nil.
    private func lintOfAnotherApp(_ slot: DeviceSlot, _ definition: Activity.Definition) -> Lint? {
        guard let device = devices[slot],
            let app = device.registration.app ?? configuration.onlyApp(of: device.key.tenant),
            app != definition.app
        else { return nil }
        return Lint(
            .deviceNotRegistered, "/audience",
            "\"\(device.key.id)\" is registered for the app \(app), and the activity is of "
                + "\(definition.app): nothing is pushed there")
    }

    /// The lint for a type that is not registered and that no device of the audience can start.
    private func typeLint(
        _ start: Start, _ activity: Activity, _ slots: [DeviceSlot]
    ) -> Lint? {
        let names = [
            TokenName.start(type: start.type), TokenName.activity(activity.reference),
        ]
        let isStartable = slots.contains { slot in
            names.contains { name in
                devices[slot].map { $0.tokens[name] != nil || $0.retired[name] != nil } ?? false
            }
        }
        guard !isStartable else { return nil }
        let registered = types.keys(of: activity.key.tenant)
            .filter { $0.app == activity.definition.app }.map(\.name)
        let needsStartToken = !slots.isEmpty && slots.allSatisfy { devices[$0]?.channel == nil }
        guard !registered.isEmpty || needsStartToken && start.route != .adopt else { return nil }
        let startable = slots.flatMap { devices[$0]?.tokens.names ?? [] }.compactMap { name in
            if case .start(let type) = name { type } else { nil }
        }
        let nearest =
            registered.count <= Self.comparedTypesMax
            ? nearestName(to: start.type, among: registered + startable) : nil
        return Lint(
            .typeNotRegistered, "/type",
            "no type \"\(start.type)\" is registered"
                + (slots.isEmpty ? "" : ", and no device of the audience has a start token for it")
                + ": a misspelt type starts no card" + didYouMean(nearest))
    }
}

extension Device {
    /// The lint for a phone whose system starts no card by push; else nil. Keys that may not read
    /// devices do not learn which phone it is.
    fileprivate func startLint(_ start: Start, _ reference: ActivityReference) -> Lint? {
        guard registration.startsNoCards, channel == nil, start.route != .adopt,
            tokens[.activity(reference)] == nil
        else { return nil }
        let phone =
            start.mayLearnNames
            ? "iOS \(registration.os ?? "") of \"\(key.id)\" starts"
            : "a phone of the audience starts"
        return Lint(
            .startNeedsNewerOS, "/audience",
            "\(phone) no card by push, which needs iOS 17.2: the card appears there when the app starts "
                + "it and sends its update token")
    }
}
