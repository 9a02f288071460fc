import TomboloCore
import TomboloLoop

/// What an app shows outside of cards on one phone (its widgets, or one control), the reloads that
/// somebody wanted for it, and the pushes that went there.
final class ReloadBook {
    static let names: [TokenName] = [.widget, .control(kind: "lock")]

    let phone: Phone
    let name: TokenName
    let sent: Outbox
    /// The app's own now; nil until it was issued.
    var token: String?
    /// The app has told of `token`, or is about to.
    var isTold = false
    /// The relay has stored `token`.
    var isRegistered = false
    /// The last one that the relay has stored, as far as it has not been told that it is gone.
    var known: String?
    /// The last time at which somebody may have wanted a reload.
    var wantedAt: MonotonicInstant?
    /// The last one that the relay has taken, and that has to come.
    var owedSince: MonotonicInstant?
    /// The last durable change of an activity that certainly owes one.
    var changedAt: MonotonicInstant?

    init(_ name: TokenName, _ phone: Phone) {
        self.name = name
        self.phone = phone
        sent = Outbox(type: name.text)
    }

    var budgetClass: BudgetClass { name == .widget ? .widget : .control }

    /// It is on the phone still.
    var isThere: Bool { phone.surfaces.contains { $0 === self } }

    /// What a push to it is to be, by the phone's system.
    var surface: Push.Surface {
        guard name == .widget else { return .control }
        return phone.system.hasPrefix("26") ? .widgets : .background
    }

    /// The last push that Apple has taken, as far as the relay must know of it in a life.
    func lastTaken(knownIn life: Int) -> Outbox.Sent? {
        sent.remembered.last {
            guard $0.fate == .accepted, let answered = $0.answeredAt else { return false }
            return answered - $0.at < .seconds(10) && ($0.life == life || !$0.isForgotten)
        }
    }

    /// Whether Apple has taken, or refused permanently, what was sent since then.
    func isSettled(since instant: MonotonicInstant) -> Bool {
        sent.sends.contains { $0.at >= instant && $0.fate == .accepted }
            || refusedAt.map { $0 >= instant } ?? false
    }

    /// When the last push was sent that Apple has refused permanently.
    var refusedAt: MonotonicInstant?
}

/// A token of such a surface at Apple.
final class SurfaceToken {
    let book: ReloadBook
    /// When the relay had stored it, by Apple's clock.
    var registeredAt: Instant?
    /// Since when it is no more, by the same.
    var goneSince: Instant?
    /// The life of the relay that was told so.
    var toldGoneIn: Int?

    init(_ book: ReloadBook) { self.book = book }

    /// Whether the relay must have retired it, as far as a life knows.
    func mustBeRetired(in life: Int) -> Bool {
        guard toldGoneIn == life, let registeredAt, let goneSince else { return false }
        return goneSince > registeredAt
    }
}

extension Push {
    /// Whether it only says that there is something new.
    var isReload: Bool {
        switch surface {
        case .widgets, .control, .background: true
        case .activity, .channel: false
        }
    }
}
