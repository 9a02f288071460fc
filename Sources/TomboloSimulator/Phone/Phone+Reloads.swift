import TomboloJSON

/// Reloads of widgets and controls. A push only says that something changed (Apple, *Updating
/// widgets with WidgetKit push notifications*, *Updating controls locally and remotely*).
extension Phone {
    mutating func reload(
        _ surface: TokenPurpose, _ push: AcceptedPush, at now: WallInstant,
        _ effects: inout [PhoneEffect]
    ) throws(Ignored) {
        // It does not matter where the JSON is wrong: the phone drops the whole push.
        guard let aps = (try? JSONDocument(push.payload))?.root["aps"], aps.kind == .object else {
            throw Ignored(.unreadable, "no aps object")
        }
        // Before OS 26 a background push wakes the app, which reloads its widgets itself.
        if push.type == .background {
            guard aps["content-available"]?.integer == 1 else {
                throw Ignored(.unreadable, "aps.content-available is not 1")
            }
        } else {
            guard aps["content-changed"]?.bool == true else {
                throw Ignored(.unreadable, "aps.content-changed is not true")
            }
        }
        if let budget = configuration.reloadBudget, configuration.budgetClass != .lab {
            let full = TokenBucket(depth: budget.depth, perHour: budget.perHour, at: now)
            guard reloadBudgets[surface, default: full].take(at: now) else {
                throw Ignored(.reloadBudgetExceeded, surface.name ?? "")
            }
        }
        reloads[surface, default: 0] += 1
        effects.append(.reloaded(surface, count: reloads[surface] ?? 0))
        // A push names no kind, so all widgets of the app reload.
        if surface == .widget { board.reload(kind: nil, .push, at: now) }
    }
}
