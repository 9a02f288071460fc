package import TomboloCore
package import TomboloJSON

/// The answer to a producer whose command was accepted.
package struct CommandAnswer: AnswerObject, Sendable {
    package var activity: Identifier
    /// The sequence of the command's event in the log. It is not part of the answer.
    package var seq: Int64
    /// The event's place among the tenant's commands.
    package var tenantSeq: Int64
    /// The position in the log after the event; nil if it is no longer known.
    package var cursor: LogCursor?
    package var version: Int64
    package var kind: EventKind
    package var status: ActivityStatus
    /// False if the activity already had this state, so that nothing was stored.
    package var changed: Bool
    package var grant: GrantInForce?
    package var decision: Decision?
    /// Why the upstream of the decision's destination is closed; nil if it is open.
    var trouble: String?
    package var destinations: DestinationCounts
    package var clip: String?
    package var plan: ClipPlan?
    package var lint: [Lint] = []
    /// The newest delivery of each destination; nil if the producer did not wait.
    package private(set) var deliveries: [(recipient: Recipient, delivery: DeliveryView)]?
    /// True if the request repeats an earlier one with the same idempotency key.
    package var replayed = false

    /// The API's answer from the core's answer.
    ///
    /// - Parameter log: the tenant's log.
    package init(_ accepted: Accepted, in log: LogID) {
        cursor = LogCursor(log, LogPlace(command: accepted.tenantSeq, fact: accepted.factSeq))
        activity = accepted.activity
        seq = accepted.seq
        tenantSeq = accepted.tenantSeq
        version = accepted.version
        kind = accepted.kind
        status = accepted.status
        changed = accepted.changed
        grant = accepted.grant
        decision = accepted.decision
        trouble = accepted.trouble
        destinations = accepted.destinations
        clip = accepted.clip
        plan = accepted.plan
        lint = accepted.lint
    }

    /// The answer to a repeated request, made again from the logged event and the present state.
    /// Sequence, version and HTTP status equal the first answer. If the activity has no newer
    /// version, `status` and counts are the present ones. The decision is left out, because it is
    /// no longer valid.
    package init(replaying event: RecordedEvent, of activity: Identifier, now view: ActivityView?) {
        self.activity = activity
        seq = event.seq
        tenantSeq = event.tenantSeq
        version = event.version
        kind = event.event.kind
        changed = true
        replayed = true
        let ended = event.event.kind == .end
        let stands = view?.version == event.version
        status = ended ? .ended : stands ? view?.status ?? .active : .active
        grant = view?.destinations.map(\.grant).max { $0.slowness < $1.slowness }
        destinations = Self.counts(view?.destinations ?? [], event.version).counts
        if kind == .play, stands { clip = view?.clip?.name }
    }

    /// Maximum number of deliveries in the answer: an audience may have a thousand devices.
    package static let deliveriesMax = 100

    /// Adds the result of this version at each destination, taken from `view`.
    ///
    /// - Parameter mayObserve: false for a key that may not read the devices: only counts change.
    package mutating func tellDeliveries(of view: ActivityView?, mayObserve: Bool) {
        var listed: [(recipient: Recipient, delivery: DeliveryView)] = []
        for destination in view?.destinations ?? [] where listed.count < Self.deliveriesMax {
            if let delivery = destination.lastDelivery, delivery.version >= version {
                listed.append((destination.recipient, delivery))
            }
        }
        deliveries = mayObserve ? listed : nil
        guard let all = view?.destinations, !all.isEmpty else { return }
        let slowest: Decision?
        (destinations, slowest) = Self.counts(all, version)
        // The waiting made the first decision outdated: replace it.
        if slowest != nil || destinations.sent + destinations.sending > 0 {
            (decision, trouble) = (slowest, all.lazy.compactMap(\.trouble).first { _ in true })
        }
    }

    /// Counts the destinations by what happened to a version: sent and answered by Apple, on its
    /// way, waiting, or neither (they have
    /// the version without a push, or never get it). Also returns the decision that takes longest.
    private static func counts(
        _ destinations: [DestinationView], _ version: Int64
    ) -> (counts: DestinationCounts, slowest: Decision?) {
        var (counts, slowest, isReserved) = (DestinationCounts.none, Decision?.none, false)
        for destination in destinations {
            // Without a delivery the destination got its version before the relay's restart.
            let sent = destination.lastDelivery?.version ?? destination.acknowledgedVersion
            if sent >= version {
                let isOpen = destination.lastDelivery.map { $0.result == nil } ?? false
                if isOpen { counts.sending += 1 } else { counts.sent += 1 }
                isReserved = isReserved || destination.lastDelivery?.keepsBack(version) == true
            } else if let waiting = destination.waiting {
                counts.add(waiting)
                if slowest.map({ $0.slowness < waiting.slowness }) ?? true { slowest = waiting }
            } else if destination.phase == "listening" {
                counts.byChannel += 1
            } else {
                counts.skipped += 1
            }
        }
        return (counts, slowest?.forProducer ?? (isReserved ? .sent(isReserved: true) : nil))
    }

    /// 201 for a new activity or clip, 200 for the rest.
    package var httpStatus: Int {
        changed && (kind == .start || kind == .play) ? 201 : 200
    }

    package var entityTag: String { "\"v\(version)\"" }

    package func write(membersTo writer: inout JSONWriter) {
        if kind == .play { writer.optional("clip", clip) }
        writer.member("activity", activity.rawValue)
        writer.member("seq", tenantSeq)
        writer.optional("cursor", cursor?.text)
        writer.member("version", version)
        writer.member("status", status.name)
        if let plan { writer.named("plan") { $0.plan(plan) } }
        if let grant { writer.named("grant") { $0.grant(grant) } }
        if let decision { writer.named("decision") { $0.decision(decision, trouble) } }
        writer.object("destinations") { writer in
            writer.member("sent", destinations.sent)
            writer.member("sending", destinations.sending)
            writer.member("deferred", destinations.deferred)
            writer.member("skipped", destinations.skipped)
            if destinations.byChannel > 0 {
                writer.member("by_channel", destinations.byChannel)
            }
        }
        if let deliveries {
            writer.array("deliveries") { writer in
                for (recipient, delivery) in deliveries {
                    writer.delivery(delivery, to: recipient)
                }
            }
        }
        writer.lints(lint)
    }
}

extension GrantInForce {
    /// How slow a destination is: the interval between two frames.
    fileprivate var slowness: Span { grant.frameInterval }
}

extension JSONWriter {
    /// Rounds a rate to five decimals. Intervals are whole nanoseconds, so a rate such as three per
    /// second is not exact; five decimals keep four digits of one frame in twenty seconds.
    static func rounded(_ rate: Double) -> Double { (rate * 100_000).rounded() / 100_000 }

    mutating func plan(_ plan: ClipPlan) {
        beginObject()
        member("class", plan.budgetClass.name)
        member("fit", plan.fit.name)
        named("asked_fps") { $0.number(Self.rounded(plan.askedFramesPerSecond)) }
        named("granted_fps") { $0.number(Self.rounded(plan.grantedFramesPerSecond)) }
        member("pushes", plan.pushes)
        member("payload_bytes", plan.payloadBytes)
        member("limit_bytes", plan.payloadBytesMax)
        member("best_effort", plan.bestEffort)
        endObject()
    }
}
