import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloJSON
import TomboloRelay

/// Which moment of the past is asked for.
enum PastMoment: Sendable {
    /// As it was at an instant, its clip showing the frame of that instant.
    case instant(Instant)
    /// As it was when the log had come so far.
    case seq(Int64)

    func isAfter(_ event: RecordedEvent) -> Bool {
        switch self {
        case .instant(let instant): event.event.recordedAt <= instant
        case .seq(let seq): event.seq <= seq
        }
    }
}

extension ServerDoors {
    /// Events of an activity that are folded at once.
    private static let pastPage = 10_000

    /// `?at=` or `?at_seq=`; nil where now is meant.
    func pastMoment(_ request: DoorRequest) throws(Problem) -> PastMoment? {
        let seq = try request.integer("at_seq", in: 0...Int64.max)
        guard let text = request.target["at"] else { return seq.map(PastMoment.seq) }
        guard seq == nil else {
            throw Problem(.invalidQuery, "Give at or at_seq, not both.")
        }
        guard let instant = Instant(rfc3339: text) else {
            throw Problem(.invalidQuery, "at=\(text) must be a time such as 2026-11-20T09:03:00Z.")
        }
        return .instant(instant)
    }

    /// The activity as it was, rebuilt from its events.
    func showPast(
        _ moment: PastMoment, of view: ActivityView, _ request: DoorRequest
    ) async throws(Problem) -> DoorResponse {
        var fold = ActivityFold()
        var last: RecordedEvent?
        var query = EventQuery(tenant: request.tenant)
        (query.activity, query.limit) = (view.number, Self.pastPage)
        reading: repeat {
            let page: EventPage
            do { page = try await relay.events(query) } catch { throw Problem(error) }
            for event in page.events {
                guard moment.isAfter(event) else { break reading }
                if let wrong = fold.apply(event) { throw Problem(.logUnreadable, "\(wrong).") }
                last = event
            }
            guard let next = page.next else { break }
            query.after = next
        } while true
        guard let last else {
            throw Problem(
                .unknownActivity,
                "The activity \"\(view.key.id)\" was not there yet, or its "
                    + "history of then was cut.")
        }
        guard let projection = fold.projection, !fold.isErased else {
            throw Problem(
                .unknownActivity, "What the activity \"\(view.key.id)\" showed then was erased.")
        }
        return .json(200, ["etag": "\"v\(last.version)\""]) {
            view.past(projection, fold, last, moment).write(to: &$0)
        }
    }
}

extension ActivityView {
    /// The same activity as `projection` had it; who showed it then is not kept.
    fileprivate func past(
        _ projection: Projection, _ fold: ActivityFold, _ last: RecordedEvent, _ moment: PastMoment
    ) -> ActivityView {
        var past = self
        past.type = fold.type
        past.incarnation = fold.incarnation
        past.version = last.version
        past.seq = last.seq
        past.status = projection.ending == nil ? .active : .ended
        past.relevance = projection.relevance
        past.staleAt = nil
        past.clip = nil
        past.destinations = []
        let instant: Instant
        switch moment {
        case .instant(let asked): instant = asked
        case .seq: instant = last.event.recordedAt
        }
        past.state = projection.state(at: instant)
        past.asOf = instant
        return past
    }
}
