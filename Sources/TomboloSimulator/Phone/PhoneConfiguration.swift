/// A phone's budgets and habits: what a user, a device and an app bring with them.
package struct PhoneConfiguration: Hashable, Sendable {
    /// Depth and refill of a budget kept on the phone.
    package struct Budget: Hashable, Sendable {
        package var depth: Double
        package var perHour: Double

        package init(depth: Double, perHour: Double) {
            self.depth = depth
            self.perHour = perHour
        }
    }

    /// How a phone keeps the budget of Live Activity pushes.
    package enum BudgetModel: String, CaseIterable, Hashable, Sendable {
        /// `BudgetWindows`.
        case windows
        /// A bucket for each activity; what is beyond is lost.
        case bucket
    }

    /// What device it is, in UIKit's words (`UIUserInterfaceIdiom`).
    package enum Idiom: String, Hashable, Sendable {
        case phone, pad

        /// Whether its screens have room for widgets of a family.
        package func has(_ family: Widget.Family) -> Bool {
            switch family {
            case .systemExtraLarge: self == .pad
            // The watch's.
            case .accessoryCorner: false
            default: true
            }
        }
    }

    /// What phone it is: as most are, with an app that declares frequent updates, or without
    /// budgets.
    package enum BudgetClass: String, CaseIterable, Hashable, Sendable {
        case standard, frequent, lab

        /// The bucket of an activity, where buckets are chosen. Apple publishes no number; these
        /// lie a little above what a careful sender allows itself. nil: no budget.
        package var budget: Budget? {
            switch self {
            case .standard: Budget(depth: 5, perHour: 12)
            case .frequent: Budget(depth: 22, perHour: 210)
            case .lab: nil
            }
        }
    }

    /// When the system hands the app an update token for an activity started by push: once the user
    /// has tapped "Allow" on the Lock Screen.
    package enum UpdateTokenPolicy: Hashable, Sendable {
        case atOnce
        case after(Duration)
        case never
    }

    /// `phone-1`: also the relay's device id.
    package var name: String
    package var bundleID: String
    /// Whose phone it is; nil: not known.
    package var user: String?
    package var idiom = Idiom.phone
    package var os = "26.1"
    package var budgetClass = BudgetClass.standard
    /// The user's switch for an app that declares frequent updates; without it `frequent` is
    /// `standard`.
    package var frequentPushesEnabled = false
    package var budgetModel = BudgetModel.windows
    package var budgetLevels = BudgetWindows.Levels()
    /// Starts by push have a budget of their own.
    package var startBudget = StartWindow.Budget()
    /// Where the Control Center is pulled from.
    package var controlCenter = PhoneGlass.Edge.bottom
    /// A watch shows the cards too, and the phone draws less often.
    package var hasWatch = false
    /// The least time between two pictures of a card; nil: as phones of this class and OS do.
    package var drawsEvery: Duration?
    /// Whether pushes below priority 10 wait while the phone is locked.
    package var holdsLowPriorityWhileLocked = true
    package var trouble = PhoneTrouble()
    package var updateTokens = UpdateTokenPolicy.atOnce
    /// Pushes below priority 10 are delivered together, after this or with the next at 10; nil:
    /// at once.
    package var lowPriorityGrouping: Duration?
    /// Every so many pushes one is overtaken by the next; nil: none.
    package var reordersEvery: Int?
    /// The app's ActivityAttributes types: each has a push-to-start token.
    package var attributesTypes = ["RunnerWidgetAttributes"]
    /// Kinds of the app's controls: each has a token (iOS 18 and later).
    package var controlKinds = ["RunnerControl"]
    /// By which name of the time zone database its clock goes; nil: it does not say.
    package var timeZone: String?
    package var widgetRules = WidgetRules()
    /// Reloads of the widgets, or of one control, by push. Apple publishes no number; of timelines
    /// it says 40 to 70 a day for a widget that is looked at often.
    package var reloadBudget: Budget? = Budget(depth: 10, perHour: 3)
    /// What each type's content state must look like; a type without an entry takes any object.
    package var shapes: [String: JSONShape] = [
        "RunnerWidgetAttributes": .object([.init("image", .string)]),
        "RadialWidgetAttributes": .object([.init("offset", .number)]),
        "RadialDefaultWidgetAttributes": .object([.init("offset", .number)]),
        "RadialStepsWidgetAttributes": .object([.init("offset", .number)]),
        "WindowWidgetAttributes": .object([.init("corner", .number)]),
        "DoorAttributes": .object([.init("word", .string)]),
    ]
    /// Chance, from outside: push-to-start tokens come from the first (kept, they outlive a
    /// restart), update tokens from the second.
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

    /// The bucket of one activity; nil where there is none.
    var updateBudget: Budget? {
        if budgetClass == .frequent, !frequentPushesEnabled { return BudgetClass.standard.budget }
        return budgetClass.budget
    }

    /// What pushes to a token of this purpose name as their topic.
    func topic(of purpose: TokenPurpose) -> PushTopic {
        let type: PushType =
            switch purpose {
            case .start, .update: .liveActivity
            case .widget: osMajor >= 26 ? .widgets : .background
            case .control: .controls
            }
        return PushTopic(bundleID: bundleID, suffix: type.topicSuffix ?? "")
    }

    /// The number before the first dot of `os`.
    var osMajor: Int { os.split(separator: ".").first.flatMap { Int($0) } ?? 0 }
}
