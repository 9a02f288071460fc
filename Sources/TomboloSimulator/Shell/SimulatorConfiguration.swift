/// What a simulator is told when it starts.
package struct SimulatorConfiguration: Sendable {
    /// The relay whose clients the phones are.
    package struct Relay: Hashable, Sendable {
        /// `http://127.0.0.1:8780` (HTTP/2 by prior knowledge) or `https://…`, without a path.
        package var origin: String
        /// An API key for devices, tokens, presence and reports.
        package var key: String
        /// The authority the relay's certificate comes from, in PEM; nil: the system's.
        package var caPEM: [UInt8]?

        package init(origin: String, key: String, caPEM: [UInt8]? = nil) {
            self.origin = origin
            self.key = key
            self.caPEM = caPEM
        }
    }

    /// Where the gateway listens; port 0 takes a free one.
    package var host = "127.0.0.1"
    package var port: UInt16 = 8_443
    package var environment = PushEnvironment.sandbox
    /// The keys Apple knows. At least one, or every push is refused.
    package var keys: [ProviderKey]
    /// The apps Apple knows; the phones carry the first.
    package var bundleIDs: [String]
    package var acceptsAnyToken = false
    /// Where the CA's certificate is written before the gateway listens; nil: nowhere.
    package var caFile: String?
    /// What goes wrong from the start on.
    package var faults: [FaultRule] = []
    /// Of the chance that a rule's `share` is taken by: one script, one order of pushes, one
    /// outcome.
    package var faultSeed: UInt64 = 0
    /// Where the control port listens: a loopback address; nil: nowhere.
    package var control: (host: String, port: UInt16)?
    /// Where what must outlive a restart is kept (the seed of the push-to-start tokens); nil:
    /// nothing is.
    package var dataDirectory: String?
    /// The phones; they exist only where there is a relay.
    package var relay: Relay?
    package var phoneCount = 3
    /// Beside the phones, a pad: `pad-1`, with widgets and no cards.
    package var hasPad = false
    /// The ActivityAttributes types the phones' app has.
    package var attributesTypes = [
        "RunnerWidgetAttributes", "RadialWidgetAttributes", "RadialDefaultWidgetAttributes",
        "RadialStepsWidgetAttributes", "WindowWidgetAttributes", "DoorAttributes",
    ]
    /// Kinds of the controls the phones' app has.
    package var controlKinds = ["RunnerControl", "DoorControl"]
    /// What states of types beside the scenarios' must look like.
    package var shapes: [String: JSONShape] = [:]
    /// The phones' budget for starts; nil: the default.
    package var startBudget: StartWindow.Budget?
    package var updateTokens = PhoneConfiguration.UpdateTokenPolicy.atOnce
    /// What was set about single phones.
    var phoneSettings: [GivenSetting] = []
    /// Whose phones they are; nil: nobody's.
    package var user: String?
    /// Whether the phones try to tell their budget class (scope `operate`); refused, they go
    /// without.
    package var tellsBudgetClass = true

    package init(keys: [ProviderKey], bundleIDs: [String]) {
        self.keys = keys
        self.bundleIDs = bundleIDs
    }

    /// The phones by number: the first is a laboratory, the second has frequent updates switched
    /// on, all others are as most phones are. The number after the last phone's is the pad's.
    func phone(_ number: Int, startTokenSeed: [UInt8], updateTokenSeed: [UInt8])
        -> PhoneConfiguration
    {
        let isPad = number > phoneCount
        var phone = PhoneConfiguration(
            name: isPad ? "pad-1" : "phone-\(number)", bundleID: bundleIDs.first ?? "",
            startTokenSeed: startTokenSeed, updateTokenSeed: updateTokenSeed)
        if isPad { phone.idiom = .pad }
        phone.attributesTypes = isPad ? [] : attributesTypes
        phone.controlKinds = isPad ? [] : controlKinds
        phone.shapes.merge(shapes) { $1 }
        phone.updateTokens = updateTokens
        if let startBudget { phone.startBudget = startBudget }
        switch number {
        case 1: phone.budgetClass = .lab
        case 2:
            phone.budgetClass = .frequent
            phone.frequentPushesEnabled = true
        default: phone.budgetClass = .standard
        }
        phone.user = user
        for given in phoneSettings where given.phone == phone.name || given.phone == "all" {
            // Checked when it was given.
            try? given.setting.apply(given.text, to: &phone)
        }
        return phone
    }
}

/// Why a simulator cannot start: each says what to do.
package struct SimulatorError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
