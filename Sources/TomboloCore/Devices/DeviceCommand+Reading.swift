package import TomboloJSON

extension DeviceRegistration {
    private static let members: [(String, Members)] = [
        ("user", .user), ("app", .app), ("environment", .environment), ("os", .os),
        ("app_version", .appVersion), ("time_zone", .timeZone), ("locale", .locale),
        ("frequent_updates", .frequentUpdates), ("control_center", .controlCenter),
        ("budget_class", .budgetClass), ("activities_enabled", .activitiesEnabled),
    ]

    /// Reads the body of `PUT /v1/devices/{device}`. A member that is `null` removes the stored
    /// value. Throws `FieldErrors` with all faults.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        for (name, member) in Self.members where view[name]?.isNull == true {
            if reader.isNull(name) { forgets.insert(member) }
        }
        user = reader.string("user")
        if user == "" { reader.fail("user", "must not be empty") }
        app = reader.string("app")
        environment = APNsEnvironment.reading("environment", &reader)
        os = reader.string("os")
        appVersion = reader.string("app_version")
        timeZone = reader.string("time_zone")
        locale = reader.string("locale")
        frequentUpdates = reader.bool("frequent_updates")
        activitiesEnabled = reader.bool("activities_enabled")
        controlCenter = reader.string("control_center")
        budgetClass = reader.choice("budget_class", BudgetClass.ofActivities.map { ($0.name, $0) })
        try reader.finish()
    }
}

extension TokenRegistration {
    package static let digitsMax = 512

    /// Reads the body of `PUT …/tokens/{name}`. Throws `FieldErrors` with all faults.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        let text = reader.string("token") ?? ""
        token = text.lowercased()
        if view["token"] == nil {
            reader.fail("token", "is missing: the token, in hex digits")
        } else if !Self.isToken(text) {
            reader.fail(
                "token",
                "must be an even number of hex digits, 2 to \(Self.digitsMax); in Swift: "
                    + #"token.map { String(format: "%02x", $0) }.joined()"#)
        }
        observedAt = reader.instant("observed_at")
        try reader.finish()
    }

    private static func isToken(_ text: String) -> Bool {
        (2...digitsMax).contains(text.utf8.count) && text.utf8.count.isMultiple(of: 2)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
                default: false
                }
            }
    }
}

extension PhoneReport {
    /// Reads the body of `PUT …/activities/{id}`. Throws `FieldErrors` with all faults.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        let phase = reader.choice(
            "phase",
            [
                ("pending", Phase.pending), ("active", .active), ("stale", .stale),
                ("ended", .ended), ("dismissed", .dismissed),
            ])
        reader.require("phase", ": pending, active, stale, ended or dismissed")
        by = reader.choice("by", [("user", "user"), ("system", "system")])
        receivedVersion = reader.integer("received_version", in: 0...Int64.max)
        drawnVersion = reader.integer("drawn_version", in: 0...Int64.max)
        // `shown_version` and `shown_state` are the old names of the `received_` members.
        if let older = reader.integer("shown_version", in: 0...Int64.max) {
            if receivedVersion != nil {
                reader.fail("shown_version", "is received_version: give one")
            }
            receivedVersion = receivedVersion ?? older
        }
        receivedState = reader.object("received_state")?.json
        drawnState = reader.object("drawn_state")?.json
        if let older = reader.object("shown_state")?.json {
            if receivedState != nil { reader.fail("shown_state", "is received_state: give one") }
            receivedState = receivedState ?? older
        }
        shownAt = reader.instant("shown_at")
        firstShownAt = reader.instant("first_shown_at")
        shownCount = reader.integer("shown_count", in: 0...Int64.max)
        lastLocalUpdate = reader.instant("last_local_update")
        self.phase = phase ?? .active
        try reader.finish()
    }
}
