import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLoop
import TomboloRelay

// How much there is of anything, how long a start takes, and what is said aloud.

extension World {
    /// Start-up waits for the disk a few times, and for nothing else.
    func checkRecoveryTime(since begin: MonotonicInstant) {
        let took = loop.now - begin
        let bound: Duration = faults.contains(FaultSet(.slowDisk)) ? .seconds(20) : .seconds(1)
        // It waits for room where something would be lost otherwise.
        guard took > bound, !faults.contains(FaultSet(.fullDisk)) else { return }
        violated(.recovery, "ready after \(took)")
    }

    /// What is read at start-up is of the size of what lives, not of history.
    func checkSize(of recovered: RecoveredLog) {
        let heads = reference.models.count
        if recovered.heads.count > heads {
            violated(.recovery, "\(recovered.heads.count) heads of \(heads) activities")
        }
        let checkpoints = recovered.records.count { $0.space == .checkpoint }
        let installations = devicesEver
        let incarnations = reference.models.reduce(0) { $0 + Int($1.value.incarnation) }
        // And a channel's for each incarnation.
        let renewals = outboxes.keys.count { $0.reference.renewal > 0 }
        // A renewed card whose start still waits has a checkpoint. A phone's new id gets it too,
        // and the old id keeps its checkpoints.
        let ids = phones.reduce(0) { $0 + $1.ids.count }
        let renewing = plan.cardLife == nil ? 0 : ids * incarnations
        if checkpoints > (installations + 1) * incarnations + renewals + renewing
            + returns(to: heads)
        {
            violated(.recovery, "\(checkpoints) checkpoints of \(incarnations) incarnations")
        }
    }

    /// To a relay each installation and each id is a device.
    private var devicesEver: Int { phones.reduce(0) { $0 + $1.installation + $1.ids.count - 1 } }

    /// Who comes back to a phone gets new cards.
    private func returns(to activities: Int) -> Int {
        phones.reduce(0) { $0 + $1.handovers } * activities
    }

    /// After each batch: nothing has grown beyond what there is to remember.
    func checkBounds() {
        guard let relay = life?.relay, life?.isReady == true else { return }
        let sizes = relay.assumeIsolated { $0.sizes }
        let installations = devicesEver
        let incarnations = reference.models.reduce(0) { $0 + Int($1.value.incarnation) }
        // What is accepted and not durable yet may be one more each.
        let activities = plan.activitiesEach * plan.tenants.count
        let renewals = outboxes.keys.count { $0.reference.renewal > 0 }
        // A renewal that has not been sent may be one more for each.
        let renewing = plan.cardLife == nil ? 0 : phones.count * activities
        let most =
            (installations + 1) * (incarnations + activities) + renewals + renewing
            + returns(to: activities)
        func check(_ count: Int, _ bound: Int, _ what: String) {
            if count > bound { violated(.bounds, "\(count) \(what), more than \(bound)") }
        }
        check(sizes.activities, activities, "activities")
        check(sizes.destinations, most, "destinations")
        // Each widget and control may wait for one too.
        check(sizes.queued, most + reloadBooks.count, "places in turn queues")
        check(sizes.deadlines, most, "deadlines")
        check(sizes.alerts, activities * Alert.waitingMax, "alerts")
        check(sizes.tokens, phones.count * (2 + 2 * most), "tokens")
        check(sizes.pendingEvents, plan.configuration.limits.pendingEventsMax, "pending events")
        check(sizes.unanswered, 40 + phones.count + 4 * plan.producersEach * 15, "open requests")
        check(sizes.inbox, 4_096, "inputs in one turn")
        check(sizes.miscounted, 0, "cards miscounted")
    }

    // MARK: Ends

    /// Whatever ran and matched when many ends were asked for has ended, or begun again since.
    func checkEnds(
        _ all: [Accepted], of request: EndMany, _ before: [ActivityNumber: Reference.Model]
    ) {
        for accepted in all {
            let event = accepted.seq >= 1 ? reference.event(accepted.seq) : nil
            if event?.event.kind != .end || event?.event.tenant != request.tenant {
                violated(.endMany, "\(accepted.activity): no end at \(accepted.seq)")
            }
        }
        // An empty answer may come before another end is durable.
        for (number, model) in all.isEmpty ? [] : before.sorted(by: { $0.key < $1.key }) {
            guard !model.hasEnded, model.tenant == request.tenant,
                request.type ?? Plan.type(of: model.id) == Plan.type(of: model.id),
                request.user ?? model.user == model.user
            else { continue }
            guard let now = reference.models[number], now.incarnation == model.incarnation,
                !now.hasEnded
            else { continue }
            violated(.endMany, "\(model.id) still runs")
        }
    }

    // MARK: What is told

    /// Nothing that people read holds a whole token, or a producer's content.
    func checkTelling(_ what: String, _ text: String) {
        checkTelling(what, Array(text.utf8))
    }

    func checkTelling(_ what: String, _ bytes: [UInt8]) {
        for secret in Self.secrets where Self.contains(bytes, secret) {
            violated(.secrets, "\(what): \(String(decoding: bytes, as: UTF8.self))")
            return
        }
    }

    /// Stands in every state.
    static let canary = "pr1vate"
    private static let secrets = [Array(tokenPrefix.utf8), Array(canary.utf8)]

    private static func contains(_ bytes: [UInt8], _ secret: [UInt8]) -> Bool {
        guard bytes.count >= secret.count else { return false }
        for start in 0...(bytes.count - secret.count)
        where bytes[start] == secret[0] && bytes[start...].starts(with: secret) {
            return true
        }
        return false
    }
}
