package import TomboloCore
package import TomboloJSON

extension ActivityView: AnswerObject {
    /// Writes the activity as `GET /v1/activities/{id}` shows it. Tokens are never part of it.
    package func write(membersTo writer: inout JSONWriter) {
        write(membersTo: &writer, destinations: nil)
    }

    /// - Parameter past: the destinations as they were at a past moment; nil: as they are now.
    package func write(membersTo writer: inout JSONWriter, destinations past: [PastDestination]?) {
        writer.member("activity", key.id.rawValue)
        writer.member("type", type)
        writer.member("app", app)
        writer.member("status", status.name)
        writer.optional("damage", damage)
        writer.member("version", version)
        writer.member("seq", tenantSeq)
        writer.member("incarnation", incarnation)
        writer.member("state", state)
        if let relevance { writer.named("relevance") { $0.number(relevance) } }
        if let asOf { writer.member("as_of", asOf.rfc3339) }
        writer.nullable("stale_at", staleAt?.rfc3339)
        if asOf == nil {
            writer.optional("started_at", startedAt?.rfc3339)
            writer.optional("changed_at", changedAt?.rfc3339)
            writer.optional("ended_at", endedAt?.rfc3339)
        }
        writer.array("clips") { writer in
            if let clip { writer.clip(clip) }
        }
        writer.array("destinations") { writer in
            if let past {
                for destination in past { destination.write(to: &writer) }
            } else {
                for destination in destinations { writer.destination(destination) }
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func clip(_ clip: ClipView) {
        beginObject()
        member("clip", clip.name)
        member("path", clip.path)
        member("frames", clip.frames)
        member("every", clip.every.text)
        member("playing", clip.playing)
        endObject()
    }

    fileprivate mutating func destination(_ destination: DestinationView) {
        beginObject()
        member(destination.recipient.member, destination.recipient.name.rawValue)
        member("class", destination.grant.budgetClass.name)
        nullable("route", destination.route)
        member("acknowledged_version", destination.acknowledgedVersion)
        nullable("result", destination.lastDelivery.map(\.result.word))
        member("phase", destination.phase)
        named("frames") { $0.frames(destination.frames) }
        if let waiting = destination.waiting, case .deferred = waiting {
            name("waiting")
            beginObject()
            optional("until", waiting.until?.rfc3339)
            optional("reason", waiting.reason)
            optional("reason_text", destination.waitingText)
            endObject()
        }
        if let report = destination.shown {
            named("shown") { $0.shown(report, matches: destination.shownMatches) }
        }
        endObject()
    }

    /// Writes the counts: `asked` is the sum of `sent`, `merged` and `skipped`, and `skipped` is
    /// the sum over its reasons.
    mutating func frames(_ frames: FrameCounts) {
        beginObject()
        member("asked", frames.asked)
        member("sent", frames.sent)
        member("merged", frames.merged)
        member("skipped", frames.skipped)
        name("skipped_by")
        beginObject()
        member("slowed", frames.slowed)
        member("no_route", frames.noRoute)
        member("hidden", frames.hidden)
        member("paused", frames.paused)
        member("unchanged", frames.unchanged)
        endObject()
        if let rate = frames.achievedPerSecond {
            named("achieved_fps") { $0.number(Self.rounded(rate)) }
        }
        endObject()
    }

    private mutating func shown(_ report: PhoneReport, matches: Bool?) {
        beginObject()
        optional("received_version", report.received)
        optional("drawn_version", report.drawn)
        optional("count", report.shownCount)
        optional("first_at", report.firstShownAt?.rfc3339)
        optional("last_at", report.shownAt?.rfc3339)
        member("phase", report.phase.name)
        optional("by", report.by)
        optional("matches", matches)
        endObject()
    }
}
