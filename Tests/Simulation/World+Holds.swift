import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLoop
import TomboloRelay

// What must hold a push back, and what must hold of all pushes of a phone together.

extension World {
    /// Why a push must not go now.
    func holds(
        _ push: Push, _ content: PushContent, _ phone: Phone, _ activity: String, _ life: Life
    ) -> [(Promise, String)] {
        var faults: [(Promise, String)] = []
        for pause in pauses where pause.holds(phone.tenant, activity) {
            if !pause.alertsOnly {
                faults.append((.paused, "pause \(pause.number) holds"))
            } else if push.event == .start || content.alert != nil {
                faults.append((.paused, "pause \(pause.number) holds alerts"))
            }
        }
        // A start carries an alert that is too old, and does not ring.
        if push.event != .start || content.rings, let alert = content.alert,
            let end = reference.alertsExpire[alert],
            let wall = life.relay.map({ $0.assumeIsolated { $0.wallNow() } }), wall >= end
        {
            faults.append((.alertInTime, "alert \(alert) at \(wall.rfc3339)"))
        }
        let model = reference.model(tenant: phone.tenant, id: activity)?.1
        if push.event == .start, model?.isAdopted == true {
            faults.append((.adopted, "a start"))
        }
        // Only frames are not to be kept by Apple.
        if push.expiration == 0, let front = phone.front, front.life == life.number,
            model?.showsAlways == false,
            loop.now - front.since < .nanoseconds(Presence.lease.nanoseconds) - .seconds(1)
        {
            faults.append((.inFront, "in front since \(front.since)"))
        }
        return faults
    }

    /// A start that goes later than `start_wait` after it was first wanted, where that is known.
    func startFaults(
        _ push: Push, _ content: PushContent, _ key: CardKey, _ phone: Phone
    ) -> [(Promise, String)] {
        guard push.event == .start, key.reference.renewal == 0,
            faults.isDisjoint(with: .unsureWaits),
            let origin = reference.origins[content.mark],
            let model = reference.audience(of: origin),
            // A second try has a wait of its own, from a moment that only the relay knows.
            startPolicy(origin.activity) == .giveUp
        else { return [] }
        let begun = MonotonicInstant(nanoseconds: model.changedAt)
        let waited = Span(nanoseconds: (loop.now - max(begun, phone.joinedAt)).nanoseconds)
        return waited > model.startWait + .seconds(1)
            ? [(.startInTime, "after \(waited) of at most \(model.startWait)")] : []
    }

    // MARK: A phone's budget

    /// What goes to all activities of a device together keeps to the device's own grant.
    func checkDeviceWindows() {
        for phone in phones {
            for installation in 1...phone.installation {
                let own = outboxes.filter {
                    $0.key.phone == phone.number && $0.key.installation == installation
                }.map(\.value)
                checkWindows(own, phone)
            }
        }
    }

    private func checkWindows(_ outboxes: [Outbox], _ phone: Phone) {
        let sends = outboxes.flatMap(\.counted).filter { !isMoving(phone, $0) }
            .sorted { $0.at < $1.at }
        guard sends.count > 1, outboxes.allSatisfy(\.cuts.isEmpty) else { return }
        let factor = plan.configuration.limits.deviceGrantFactor
        let budgets = plan.configuration.budgets
        let timelines = Plan.types.map { timeline(phone, $0) }
        let classes = Set(timelines.flatMap(\.all))
        var faults = Outbox.bucketFaults(
            sends.filter { $0.priority == 10 && !$0.mayShare },
            budgets.widest(of: classes).times(factor))
        if let only = classes.first, classes.count == 1, only != .lab {
            let grant = budgets[only].times(factor)
            faults += Outbox.spacingFaults(sends, grant.spacing, "two sends")
            faults += Outbox.spacingFaults(
                sends.filter { $0.priority == 5 }, grant.lowPrioritySpacing, "priority 5")
        }
        let starts = sends.filter { $0.event == .start }
        faults += Outbox.bucketFaults(starts, budgets[.start])
        for (promise, detail, at) in faults {
            violated(
                promise, "phone \(phone.number) as a whole: \(detail), sent at \(at.nanoseconds)")
        }
    }

    /// Whether it went while each of two ids of the phone had a budget of its own.
    private func isMoving(_ phone: Phone, _ sent: Outbox.Sent) -> Bool {
        phone.moves.contains { $0.from <= sent.at && sent.at <= $0.to }
    }

    // MARK: Books

    /// Once all is calm, nothing waits, and the decisions add up.
    func checkBooks(_ relay: Relay) async {
        await relay.settleFacts()
        var missing: [TenantID: Int64] = [:]
        for (_, model) in reference.models.sorted(by: { $0.key < $1.key }) {
            let key = ActivityKey(tenant: model.tenant, id: Plan.identifier(model.id))
            let views = await relay.read { core, now in core.ledgers(of: key, now: now) } ?? []
            missing[model.tenant, default: 0] += await checkHistory(relay, key, views)
            for view in views {
                let ledger = view.ledger
                let name = "\(model.id)~\(view.incarnation) at \(view.recipient.name)"
                let waiting = ledger.waiting(at: view.version)
                let all = max(0, view.version - ledger.since + 1)
                if ledger.counts.decided + waiting != all {
                    violated(
                        .ledger,
                        "\(name): \(ledger.counts.decided) decided and \(waiting) waiting of \(all)"
                    )
                }
                let frames = view.frames
                if frames.asked != frames.sent + frames.merged + frames.skipped {
                    violated(.ledger, "\(name): frames \(frames)")
                }
            }
        }
        guard plan.factRoom != nil else { return }
        for (tenant, count) in missing.sorted(by: { $0.key < $1.key }) {
            await checkThinning(relay, tenant, missing: count)
        }
    }
}
