/// Configuration of a simulator.
package struct SimulatorConfiguration: Sendable {
    /// The relay that the phones use.
    package struct Relay: Hashable, Sendable {
        /// `http://127.0.0.1:8780` (HTTP/2 by prior knowledge) or `https://…`, without a path.
        package var origin: String
        /// An API key for devices, tokens, presence and reports.
        package var key: String
        /// The authority of the relay's certificate, in PEM; nil means the system's authorities.
        package var caPEM: [UInt8]?

        package init(origin: String, key: String, caPEM: [UInt8]? = nil) {
            self.origin = origin
            self.key = key
            self.caPEM = caPEM
        }
    }

    /// Address on which the gateway listens; port 0 takes a free one.
    package var host = "127.0.0.1"
    package var port: UInt16 = 8_443
    package var environment = PushEnvironment.sandbox
    /// The keys that Apple knows. If there are none, every push is refused.
    package var keys: [ProviderKey]
    /// The apps that Apple knows. The phones have the first one.
    package var bundleIDs: [String]
    package var acceptsAnyToken = false
    /// File to which the authority's certificate is written at the start; nil means none.
    package var caFile: String?
    /// Faults that are active from the start.
    package var faults: [FaultRule] = []
    /// Random seed that decides which pushes a rule's `share` selects, so that runs are repeatable.
    package var faultSeed: UInt64 = 0
    /// Loopback address on which the control port listens; nil means no control port.
    package var control: (host: String, port: UInt16)?
    /// Directory for data that must survive a restart, such as the seed of the push-to-start
    /// tokens; nil means that nothing is kept.
    package var dataDirectory: String?
    /// The relay that the phones use; nil means that there are no phones.
    package var relay: Relay?
    package var phoneCount = 3
    /// True if there is an iPad, `pad-1`, with widgets but no cards.
    package var hasPad = false
    /// The ActivityAttributes types of the phones' app.
    package var attributesTypes = [
        "RunnerWidgetAttributes", "RadialWidgetAttributes", "RadialDefaultWidgetAttributes",
        "RadialStepsWidgetAttributes", "WindowWidgetAttributes", "DoorAttributes",
    ]
    /// Kinds of the controls of the phones' app.
    package var controlKinds = ["RunnerControl", "DoorControl"]
    /// Shapes of the states of further types, besides those of the scenarios.
    package var shapes: [String: JSONShape] = [:]
    /// The phones' budget for starts; nil means the default.
    package var startBudget: StartWindow.Budget?
    package var updateTokens = PhoneConfiguration.UpdateTokenPolicy.atOnce
    var phoneSettings: [GivenSetting] = []
    /// The user of all phones; nil means no user.
    package var user: String?
    /// True if the phones try to report their budget class, which needs scope `operate`. If the
    /// relay refuses it, they go on without it.
    package var tellsBudgetClass = true

    package init(keys: [ProviderKey], bundleIDs: [String]) {
        self.keys = keys
        self.bundleIDs = bundleIDs
    }

    /// The configuration of the phone with this number. The first phone has no budgets (`lab`), the
    /// second has frequent updates on, all others are `standard`. The number after the last phone
    /// is the iPad.
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
        phone.registeredTypes.formUnion(shapes.keys)
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
            // This cannot fail: the value was already checked in `set`.
            try? given.setting.apply(given.text, to: &phone)
        }
        return phone
    }
}

/// Why a simulator cannot start. The text includes the remedy.
package struct SimulatorError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
