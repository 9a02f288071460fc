import TomboloJSON

/// The facts about a device that an app reports in `PUT /v1/devices/ID`.
public struct DeviceFacts: Hashable, Sendable {
    /// The app's bundle id.
    public var app: String
    /// `sandbox` for a build that Xcode installs, `production` for TestFlight and the App Store.
    /// Read it from `embedded.mobileprovision`, not from the build's configuration.
    public var environment: String
    /// Only the version of the system, such as `26.1`.
    public var os: String
    public var appVersion: String?
    /// The time zone's name in the time zone database.
    public var timeZone: String?
    public var locale: String?
    /// Value of `ActivityAuthorizationInfo().frequentPushesEnabled`.
    public var frequentUpdates: Bool
    /// Value of `ActivityAuthorizationInfo().areActivitiesEnabled`.
    public var activitiesEnabled: Bool?
    /// The edge from which the Control Center is pulled; nil means that it is not reported.
    public var controlCenter: ScenePresence.Edge?
    /// Set it only if the key has scope `operate`: the key of an app may not set it.
    public var budgetClass: String?

    /// Takes the facts that every app has. Set other facts afterwards.
    public init(app: String, environment: String, os: String, frequentUpdates: Bool) {
        self.app = app
        self.environment = environment
        self.os = os
        self.frequentUpdates = frequentUpdates
    }

    func body(user: String?) -> [UInt8] {
        JSONWriter.objectBytes { body in
            body.member("app", app)
            body.member("environment", environment)
            if let user { body.member("user", user) }
            body.member("os", os)
            if let appVersion { body.member("app_version", appVersion) }
            if let timeZone { body.member("time_zone", timeZone) }
            if let locale { body.member("locale", locale) }
            body.member("frequent_updates", frequentUpdates)
            if let activitiesEnabled { body.member("activities_enabled", activitiesEnabled) }
            if let controlCenter { body.member("control_center", controlCenter.rawValue) }
            if let budgetClass { body.member("budget_class", budgetClass) }
        }
    }
}
