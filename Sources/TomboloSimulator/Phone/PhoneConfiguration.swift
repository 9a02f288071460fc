/// Properties of a simulated phone: its budgets, its device, its user and its app.
package struct PhoneConfiguration: Hashable, Sendable {
    /// Size and refill of a budget that the phone keeps.
    package struct Budget: Hashable, Sendable {
        package var depth: Double
        package var perHour: Double
    }

    /// How a phone keeps the budget of Live Activity pushes.
    package enum BudgetModel: String, CaseIterable, Hashable, Sendable {
        /// A window for each card: see `BudgetWindows`.
        case windows
        /// A token bucket for each activity. Pushes beyond the budget are lost.
        case bucket
    }

    /// Kind of device, in UIKit's terms (`UIUserInterfaceIdiom`).
    package enum Idiom: String, Hashable, Sendable {
        case phone, pad

        /// True if the device can show widgets of this family.
        package func has(_ family: Widget.Family) -> Bool {
            switch family {
            case .systemExtraLarge: self == .pad
            // Only a watch has it.
            case .accessoryCorner: false
            default: true
            }
        }
    }

    /// Budget class: standard, for an app that declares frequent updates, or without budgets.
    package enum BudgetClass: String, CaseIterable, Hashable, Sendable {
        case standard, frequent, lab

        /// The bucket of an activity if the model is `bucket`; nil means no budget. Apple publishes
        /// no number; these are slightly above what a careful sender uses.
        package var budget: Budget? {
            switch self {
            case .standard: Budget(depth: 5, perHour: 12)
            case .frequent: Budget(depth: 22, perHour: 210)
            case .lab: nil
            }
        }
    }

    /// When the app gets the update token of an activity that a push started: only after the user
    /// has tapped "Allow" on the Lock Screen.
    package enum UpdateTokenPolicy: Hashable, Sendable {
        case atOnce
        case after(Duration)
        case never
    }

    /// The app on the phone.
    package enum App: String, CaseIterable, Hashable, Sendable {
        /// Does everything that an app should do.
        case contract
        /// Makes mistakes that real apps make: it does not notice cards that a push starts until it
        /// is opened, uploads an empty token, and drops uploads when it is suspended.
        case careless
    }

    /// Name such as `phone-1`; also the relay's device id.
    package var name: String
    package var bundleID: String
    /// The phone's user; nil if unknown.
    package var user: String?
    package var idiom = Idiom.phone
    package var os = "26.1"
    package var app = App.contract
    package var budgetClass = BudgetClass.standard
    /// The user's switch for an app that declares frequent updates; if it is off, `frequent`
    /// behaves like `standard`.
    package var frequentPushesEnabled = false
    package var budgetModel = BudgetModel.windows
    package var budgetLevels = BudgetWindows.Levels()
    /// Budget of starts by push.
    package var startBudget = StartWindow.Budget()
    /// Edge from which the Control Center is pulled.
    package var controlCenter = PhoneGlass.Edge.bottom
    /// True if a watch shows the cards too. Then the phone draws less often.
    package var hasWatch = false
    /// Minimum time between two pictures of a card; nil: the default of budget class and OS.
    package var drawsEvery: Duration?
    /// True if pushes below priority 10 wait while the phone is locked.
    package var holdsLowPriorityWhileLocked = true
    package var trouble = PhoneTrouble()
    package var updateTokens = UpdateTokenPolicy.atOnce
    /// Delay after which pushes below priority 10 are delivered together. The next push at priority
    /// 10 delivers them earlier. Nil means no delay.
    package var lowPriorityGrouping: Duration?
    /// Every n-th push is overtaken by the next one; nil means none.
    package var reordersEvery: Int?
    /// The app's ActivityAttributes types: each has a push-to-start token.
    package var attributesTypes = ["RunnerWidgetAttributes"]
    /// Kinds of the app's controls: each has a token (iOS 18 and later).
    package var controlKinds = ["RunnerControl"]
    /// Time zone of the phone (name in the time zone database); nil if it reports none.
    package var timeZone: String?
    package var widgetRules = WidgetRules()
    /// Budget of reloads by push, for all widgets together or for one control. Apple publishes no
    /// number, but for timelines it says 40 to 70 a day for a widget that is often viewed.
    package var reloadBudget: Budget? = Budget(depth: 10, perHour: 3)
    /// Types whose shape is that of a type registered with the relay, so that it has all members.
    package var registeredTypes: Set<String> = []
    /// Required shape of each type's content state. A type without an entry takes any object.
    package var shapes: [String: JSONShape] = [
        "RunnerWidgetAttributes": .object([.init("image", .string)]),
        "RadialWidgetAttributes": .object([.init("offset", .number)]),
        "RadialDefaultWidgetAttributes": .object([.init("offset", .number)]),
        "RadialStepsWidgetAttributes": .object([.init("offset", .number)]),
        "WindowWidgetAttributes": .object([.init("corner", .number)]),
        "DoorAttributes": .object([.init("word", .string)]),
    ]
    /// Random seeds. Push-to-start tokens come from the first, which is kept over restarts, and
    /// update tokens from the second.
    package var startTokenSeed: [UInt8]
    package var updateTokenSeed: [UInt8]

    package init(
        name: String, bundleID: String, startTokenSeed: [UInt8], updateTokenSeed: [UInt8]
    ) {
        self.name = name
        self.bundleID = bundleID
        self.startTokenSeed = startTokenSeed
        self.updateTokenSeed = updateTokenSeed
    }

    /// The bucket of one activity; nil if there is no budget.
    var updateBudget: Budget? {
        if budgetClass == .frequent, !frequentPushesEnabled { return BudgetClass.standard.budget }
        return budgetClass.budget
    }

    func topic(of purpose: TokenPurpose) -> PushTopic {
        let type: PushType =
            switch purpose {
            case .start, .update: .liveActivity
            case .widget: osMajor >= 26 ? .widgets : .background
            case .control: .controls
            }
        return PushTopic(bundleID: bundleID, suffix: type.topicSuffix ?? "")
    }

    /// True from iOS 17.2 on: a push starts a card.
    var startsByPush: Bool {
        let parts = os.split(separator: ".").map { Int($0) ?? 0 }
        return osMajor == 0 || (osMajor, parts.count > 1 ? parts[1] : 0) >= (17, 2)
    }

    /// The number before the first dot of `os`.
    var osMajor: Int { os.split(separator: ".").first.flatMap { Int($0) } ?? 0 }
}
