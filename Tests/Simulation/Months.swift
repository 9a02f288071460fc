import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloLoop
import TomboloRelay

/// A world that lives for months: what takes the product hours, days and weeks takes minutes here,
/// in the same proportions, and a day ends while it runs.
struct Months {
    /// Ended activities stay in memory for so long.
    var endedKept: Duration
    /// Events, and what has ended, are cut when they are older.
    var history: Duration
    var facts: Duration
    /// The wall time at which the world begins: midnight comes within its chaos.
    var epoch: Instant

    static let chaosMinutes = [50, 70, 100]

    init(_ dice: inout Dice, life: Duration, chaos: Duration) {
        // 8 hours of a card, 24 of an ended activity, 48 and more of history.
        endedKept = life * 3
        history = life * dice.pick(.months, [3, 4, 6])
        facts = life
        let seconds = Int(chaos.components.seconds)
        let left = dice.roll(.months, seconds / 8...seconds * 3 / 4)
        let day = Int64(86_400)
        let midnight = (VirtualWallClock.epoch.seconds / day + 1) * day
        epoch = Instant(seconds: midnight - Int64(left))
    }

    func apply(to configuration: inout CoreConfiguration) {
        configuration.limits.endedKept = Span(nanoseconds: endedKept.nanoseconds)
        // What a device has spent is kept with what has spent it.
        let share = 86_400 / Double(endedKept.components.seconds)
        configuration.budgets[.start].perHour =
            configuration.budgets[.start].perHour.map { $0 * share }
    }

    /// The log's, which the product has no shorter than 48 hours.
    var retention: LogRetention {
        var retention = LogRetention.standard
        retention.history = Span(nanoseconds: history.nanoseconds)
        retention.facts = Span(nanoseconds: facts.nanoseconds)
        return retention
    }
}

extension World {
    /// Of the log's history, all that there ever was: what is cut from its beginning was known
    /// before. Only what is old enough may be gone.
    func whole(_ history: [RecordedEvent], _ recovered: RecoveredLog) -> [RecordedEvent] {
        let known = reference.events
        let first = history.first?.seq ?? recovered.lastSeq + 1
        guard plan.months != nil, !isRestoring, first > 1, first - 1 <= Int64(known.count) else {
            return history
        }
        let cut = known.prefix(Int(first - 1))
        if let last = cut.last, !isOld(last.event.recordedAt) {
            violated(.durable, "event \(last.seq) of \(last.event.recordedAt.rfc3339) is cut")
        }
        return cut + history
    }

    /// The last event that history may be cut up to.
    var lastOld: Int64 {
        let isOld = plan.usesDisk && plan.months != nil
        return isOld ? reference.events.last { self.isOld($0.event.recordedAt) }?.seq ?? 0 : 0
    }

    /// Whether history may be cut up to there.
    func isOld(_ instant: Instant) -> Bool {
        guard let months = plan.months else { return false }
        let newest = clock.trueNow() + .seconds(2)
        return instant + Span(nanoseconds: months.history.nanoseconds) <= newest
    }

    /// Whether a log may know nothing of an activity any more: it ended on a day before the one
    /// that history begins with.
    func mayBeDropped(_ model: Reference.Model) -> Bool {
        guard let months = plan.months, plan.usesDisk, let endedAt = model.endedAt else {
            return false
        }
        let day = Span.hours(24).nanoseconds
        let newest = clock.trueNow().nanoseconds
        return endedAt.nanoseconds / day < (newest - months.history.nanoseconds) / day
    }

    /// An activity begins for the first time. Where its name was another's before, that one's
    /// cards are no concern of anybody: they count apart from now on.
    func leaveEarlier(_ number: ActivityNumber) {
        guard let model = reference.models[number] else { return }
        let before = reference.models.filter {
            $0.key < number && $0.value.tenant == model.tenant && $0.value.id == model.id
        }
        guard let last = before.max(by: { $0.key < $1.key }) else { return }
        if !last.value.hasEnded || !mayBeDropped(last.value) {
            violated(.durable, "\(model.id) of \(model.tenant.name) began as if it were new")
        }
        archives += 1
        for (key, outbox) in outboxes
        where isOf(key, model) {
            outboxes[key] = nil
            outboxes[archived(key)] = outbox
        }
        for channel in apple.channels.values {
            if let now = channel.carriedNow, isOf(now, model) {
                channel.carriedNow = archived(now)
            }
            channel.carriedBefore = channel.carriedBefore.filter { !isOf($0, model) }
        }
        for phone in phones where phone.tenant == model.tenant {
            for card in phone.sortedCards where card.reference.id.rawValue == model.id {
                phone.cards[card.reference] = nil
            }
        }
    }

    /// The name under which the books of an earlier activity are kept.
    private func archived(_ key: CardKey) -> CardKey {
        var old = key
        old.installation += archives * 1_000
        return old
    }

    private func isOf(_ key: CardKey, _ model: Reference.Model) -> Bool {
        key.reference.id.rawValue == model.id && tenant(of: key) == model.tenant
    }

    private func tenant(of key: CardKey) -> TenantID {
        if key.phone >= 0 { return phones[key.phone].tenant }
        return plan.configuration.apps[-1 - key.phone].tenant
    }

    /// All that runs is listed.
    func checkListed(_ relay: Relay) async {
        for tenant in plan.tenants {
            let listed = await relay.activities(
                ActivityFilter(tenant: tenant, status: nil, type: nil, user: nil), after: nil,
                limit: 1_000)
            let names = Set(listed.views.map(\.key.id.rawValue))
            for model in reference.models.values.sorted(by: { $0.id < $1.id })
            where model.tenant == tenant && !model.hasEnded && !names.contains(model.id) {
                violated(.listed, "\(model.id) of \(tenant.name) runs, and is not listed")
            }
        }
    }
}
