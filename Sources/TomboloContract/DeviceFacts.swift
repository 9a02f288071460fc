import TomboloJSON

/// What an app says of its device in `PUT /v1/devices/ID`.
public struct DeviceFacts: Hashable, Sendable {
    /// The app's bundle id.
    public var app: String
    /// `sandbox` for a build that Xcode installs, `production` for TestFlight and the App Store.
    /// Read it in `embedded.mobileprovision`, not from the build's configuration.
    public var environment: String
    /// Version of the system alone, such as `26.1`.
    public var os: String
    public var appVersion: String?
    /// Name in the time zone database.
    public var timeZone: String?
    public var locale: String?
    /// `ActivityAuthorizationInfo().frequentPushesEnabled`
    public var frequentUpdates: Bool
    /// The edge from which the Control Center is pulled; nil: it is not reported.
    public var controlCenter: ScenePresence.Edge?
    /// Only for a key of scope `operate`: the key of an app may not set it.
    public var budgetClass: String?

    /// The facts that every app has; set others afterwards.
    public init(app: String, environment: String, os: String, frequentUpdates: Bool) {
        self.app = app
        self.environment = environment
        self.os = os
        self.frequentUpdates = frequentUpdates
    }

    /// The body of the request.
    func body(user: String?) -> [UInt8] {
        var body = JSONWriter()
        body.beginObject()
        body.member("app", app)
        body.member("environment", environment)
        if let user { body.member("user", user) }
        body.member("os", os)
        if let appVersion { body.member("app_version", appVersion) }
        if let timeZone { body.member("time_zone", timeZone) }
        if let locale { body.member("locale", locale) }
        body.member("frequent_updates", frequentUpdates)
        if let controlCenter { body.member("control_center", controlCenter.rawValue) }
        if let budgetClass { body.member("budget_class", budgetClass) }
        body.endObject()
        return body.bytes
    }
}
