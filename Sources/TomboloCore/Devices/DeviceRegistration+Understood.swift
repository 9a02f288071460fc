extension DeviceRegistration {
    private static let edges = ["bottom", "top_right"]

    /// The registration without values that say nothing here, and a lint for each of them. A device
    /// can be reached without these members, so they never refuse a registration; what was known of
    /// them stays.
    ///
    /// - Parameter zones: the time zones that the machine knows; nil: every name counts.
    func understood(by zones: (any TimeZoneSource)?) -> (DeviceRegistration, [Lint]) {
        var (understood, lints) = (self, [Lint]())
        let texts: [(String, WritableKeyPath<Self, String?>)] = [
            ("os", \.os), ("app_version", \.appVersion), ("time_zone", \.timeZone),
            ("locale", \.locale), ("control_center", \.controlCenter),
        ]
        for (name, path) in texts where self[keyPath: path] == "" {
            understood[keyPath: path] = nil
            lints.warn(
                .memberNotUnderstood, "/\(name)",
                "is empty, and what was known stays: give it, or null to remove it")
        }
        if let zone = understood.timeZone, let zones, zones.rules(of: zone) == nil {
            understood.timeZone = nil
            lints.warn(
                .memberNotUnderstood, "/time_zone",
                "is \"\(zone)\", which this machine does not know, and the zone of before stays (UTC "
                    + "if there was none): give a name such as \"Europe/Berlin\"")
        }
        if let edge = understood.controlCenter, !Self.edges.contains(edge) {
            understood.controlCenter = Self.edges[0]
            lints.warn(
                .memberNotUnderstood, "/control_center",
                "is \"\(edge)\", and \"bottom\" is taken: give \"bottom\" or \"top_right\", from where "
                    + "a swipe opens the Control Center")
        }
        return (understood, lints)
    }
}
