import TomboloJSON

/// An action of the user, the system or the app on a phone, as sent to the control port:
/// `{"do":"swipe","activity":"cat-7"}`.
package enum PhoneDeed: String, CaseIterable, Hashable, Sendable {
    // Actions of the user.
    case front, back
    case switcher
    case controlCenter = "control-center"
    case touch, lock, unlock, offline, online, terminate, launch, restart, reinstall, swipe, allow,
        deny
    /// Taps a card, a widget, a link or a button.
    case tap
    /// Actions on widgets: the member `widget` is the kind.
    case widgetAdd = "widget-add"
    case widgetRemove = "widget-rm"
    case widgetGallery = "widget-gallery"
    /// The app in front reloads its widgets.
    case widgetReload = "widget-reload"
    /// These switch something on; with `"on":false` they switch it off.
    case statusBar = "status-bar"
    case lowPower = "low-power"
    case watch
    // Actions of the system and the app.
    case rotate, update
    /// The app starts a card that listens on a broadcast channel.
    case listen
    /// A fault that the phone does not report; `"on":false` ends it.
    case trouble
    /// Changes the phone's update budget from the next window on.
    case budget

    /// True if the action needs a card, so the request must name an activity that has one.
    var needsCard: Bool {
        switch self {
        case .swipe, .rotate, .update: true
        default: false
        }
    }

    /// Why a request cannot be performed.
    struct Fault: Error {
        var message: String
    }

    /// Why the phone's present state does not allow the action; nil if it allows it.
    func obstacle(on phone: Phone, activity: String) -> String? {
        let name = phone.configuration.name
        switch self {
        case .front, .touch: return phone.isLocked ? "\(name) is locked; unlock it first" : nil
        case .controlCenter, .switcher: return overlayObstacle(on: phone)
        case .allow, .deny:
            let isWaiting =
                phone.frequentPrompt == .asks || phone.cards.contains(where: \.waitsForAllow)
            return activity.isEmpty && !isWaiting ? "\(name) asks its user nothing now" : nil
        case .listen:
            if phone.configuration.osMajor < 18 { return "channels need iOS 18 on \(name)" }
            let hasCard = phone.cards.contains { $0.activityID == activity && !$0.isOver }
            return hasCard ? "\(name) has a card of \(activity) already" : nil
        default: return nil
        }
    }

    /// Control Center and app switcher cover the app in the foreground, but not each other.
    private func overlayObstacle(on phone: Phone) -> String? {
        let name = phone.configuration.name
        if phone.isLocked { return "\(name) is locked; unlock it first" }
        switch (phone.presence, self) {
        case (.background, _): return "on \(name) no app is in front; open it first, with front"
        case (.covered, .switcher):
            return "on \(name) the Control Center is open; close it first, with front"
        case (.inactive, .controlCenter):
            return "on \(name) the app switcher is open; open the app first, with front"
        default: return nil
        }
    }

    /// Returns the change that the action makes on a phone. `view` is the request's object.
    func change(
        _ view: JSONView
    ) throws(Fault) -> (inout Phone, WallInstant) -> [PhoneEffect] {
        let activity = view["activity"]?.string ?? ""
        guard view["on"].map({ $0.kind == .bool }) ?? true else {
            throw Fault(message: "\"on\" must be true or false")
        }
        let on = view["on"]?.bool ?? true
        switch self {
        case .front: return { $0.move(to: .active, at: $1) }
        case .back: return { $0.move(to: .background, at: $1) }
        case .switcher: return { $0.move(to: .inactive, at: $1) }
        case .controlCenter: return { $0.pullControlCenter(at: $1) }
        case .touch:
            let point = try Self.point(view)
            return { $0.touch(point, at: $1) }
        case .lock: return { $0.setLocked(true, at: $1) }
        case .unlock: return { $0.setLocked(false, at: $1) }
        case .offline: return { $0.setOnline(false, at: $1) }
        case .online: return { $0.setOnline(true, at: $1) }
        case .terminate: return { $0.setTerminated(true, at: $1) }
        case .launch: return { $0.setTerminated(false, at: $1) }
        case .restart: return { $0.restart(at: $1) }
        case .reinstall: return { $0.reinstall(at: $1) }
        case .swipe: return { $0.swipeAway(activityID: activity, at: $1) }
        case .allow, .deny: return Self.answer(allow: self == .allow, activity)
        case .rotate: return { $0.rotate(activityID: activity, at: $1) }
        case .update:
            guard let given = view["state"], given.kind == .object else {
                throw Fault(message: "\"state\" must be an object")
            }
            let state = JSON.line(Array(given.raw))
            return { $0.updateLocally(activityID: activity, state: state, at: $1) }
        case .listen: return try Self.listen(view, activity)
        case .tap: return try Self.tap(view)
        case .widgetAdd, .widgetRemove, .widgetReload, .widgetGallery:
            return try widgetChange(WidgetDeed(view))
        case .watch:
            return { phone, _ in
                phone.setWatch(on)
                return []
            }
        case .statusBar:
            return { phone, _ in phone.setStatusBar(hidden: !on) }
        case .lowPower: return Self.trouble([.lowPower], on: on)
        case .trouble: return try Self.trouble(view, on: on)
        case .budget: return try Self.budget(view)
        }
    }

    /// Answers a question that the phone asks its user. If an activity is named: its card's
    /// "Allow". Else the question about frequent updates if it is shown, or the newest card that
    /// waits for an answer.
    private static func answer(
        allow: Bool, _ activity: String
    ) -> (inout Phone, WallInstant) -> [PhoneEffect] {
        { phone, now in
            if activity.isEmpty, phone.frequentPrompt == .asks {
                return phone.answerPrompt(allow: allow, at: now)
            }
            let waiting = phone.cards.last { $0.waitsForAllow }
            let id = activity.isEmpty ? waiting?.activityID ?? "" : activity
            return allow
                ? phone.allow(activityID: id, at: now) : phone.deny(activityID: id, at: now)
        }
    }

    /// The names in the request were already checked by `obstacle`.
    private func widgetChange(
        _ deed: WidgetDeed
    ) -> (inout Phone, WallInstant) -> [PhoneEffect] {
        { phone, now in
            let kind = deed.kind ?? ""
            switch self {
            case .widgetAdd:
                guard let family = deed.family else { return [] }
                let key = Widget.Key(kind: kind, family: family, config: deed.config)
                return phone.addWidget(key, at: now)
            case .widgetRemove:
                guard let key = deed.widget(on: phone)?.key else { return [] }
                return phone.removeWidget(key, at: now)
            case .widgetReload: return phone.reloadWidgets(kind: deed.kind, at: now)
            default: return phone.openGallery(kind: kind, at: now)
            }
        }
    }

    /// The point where the screen is touched; nil if the request gives none.
    private static func point(_ view: JSONView) throws(Fault) -> PhoneGlass.Point? {
        if view["x"] == nil, view["y"] == nil { return nil }
        guard let x = view["x"]?.double, let y = view["y"]?.double,
            (0...PhoneGlass.width).contains(x), (0...PhoneGlass.height).contains(y)
        else {
            throw Fault(
                message: "\"x\" must be from 0 to \(Int(PhoneGlass.width)) and \"y\" from 0 to "
                    + "\(Int(PhoneGlass.height)): points from the top left")
        }
        return PhoneGlass.Point(x: x, y: y)
    }

    private static func listen(
        _ view: JSONView, _ activity: String
    ) throws(Fault) -> (inout Phone, WallInstant) -> [PhoneEffect] {
        guard let channel = view["channel"]?.string, let type = view["type"]?.string,
            let given = view["state"], given.kind == .object, !activity.isEmpty
        else {
            throw Fault(
                message: "listen needs \"channel\", \"activity\", \"type\" and \"state\"")
        }
        let state = JSON.line(Array(given.raw))
        return {
            $0.listen(on: channel, activityID: activity, type: type, state: state, at: $1)
        }
    }

    private static func tap(
        _ view: JSONView
    ) throws(Fault) -> (inout Phone, WallInstant) -> [PhoneEffect] {
        let (activity, link) = (view["activity"]?.string, view["link"]?.string)
        let intent = view["intent"]?.string
        let widget = try WidgetDeed(view)
        guard activity != nil || link != nil || intent != nil || widget.kind != nil else {
            throw Fault(message: "say what is tapped: activity, widget, link or intent")
        }
        guard link == nil || intent == nil else {
            throw Fault(message: "a tap follows a link or runs an intent, not both")
        }
        let parameters = view["parameters"].map { JSON.line(Array($0.raw)) }
        if widget.kind != nil {
            return { phone, now in
                guard let one = widget.widget(on: phone) else { return [] }
                return phone.tapWidget(
                    one.key, item: widget.item(of: one), link: link, intent: intent,
                    parameters: parameters, at: now)
            }
        }
        return {
            $0.tap(activity: activity, link: link, intent: intent, parameters: parameters, at: $1)
        }
    }

    private static func trouble(
        _ kinds: Set<PhoneTrouble.Kind>, on: Bool
    ) -> (inout Phone, WallInstant) -> [PhoneEffect] {
        { phone, now in
            var trouble = phone.trouble
            if on { trouble.kinds.formUnion(kinds) } else { trouble.kinds.subtract(kinds) }
            return phone.setTrouble(trouble, at: now)
        }
    }

    private static func trouble(
        _ view: JSONView, on: Bool
    ) throws(Fault) -> (inout Phone, WallInstant) -> [PhoneEffect] {
        let name = view["kind"]?.string ?? ""
        guard let kind = PhoneTrouble.Kind(rawValue: name) else {
            let kinds = PhoneTrouble.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw Fault(message: "\"kind\" must be one of \(kinds)")
        }
        return trouble([kind], on: on)
    }

    private static func budget(
        _ view: JSONView
    ) throws(Fault) -> (inout Phone, WallInstant) -> [PhoneEffect] {
        var given: [BudgetWindows.Level: Int] = [:]
        for level in BudgetWindows.Level.allCases {
            guard let member = view[level.rawValue] else { continue }
            guard let count = member.integer, (1...1_000_000).contains(count) else {
                throw Fault(message: "\"\(level.rawValue)\" must be from 1 to 1000000")
            }
            given[level] = Int(count)
        }
        return { phone, _ in
            let now = phone.budgetLevels
            phone.setBudgetLevels(
                BudgetWindows.Levels(
                    unused: given[.unused] ?? now.unused,
                    standard: given[.standard] ?? now.standard,
                    frequent: given[.frequent] ?? now.frequent))
            return []
        }
    }
}
