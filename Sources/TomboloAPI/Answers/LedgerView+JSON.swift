package import TomboloCore
package import TomboloJSON

extension LedgerView: AnswerObject {
    /// Writes one destination's ledger: its events and due frames, counted by decision.
    package func write(membersTo writer: inout JSONWriter) {
        writer.member(recipient.member, recipient.name.rawValue)
        writer.member("incarnation", incarnation)
        writer.member("class", grant.budgetClass.name)
        writer.member("phase", phase)
        writer.name("events")
        let waitingEvents = ledger.waiting(at: version)
        writer.events(ledger.counts, waiting: waitingEvents)
        if waitingEvents > 0, let waiting {
            writer.named("waiting") { $0.decision(waiting, trouble) }
        }
        writer.named("frames") { $0.frames(frames) }
        writer.array("seconds", of: seconds) { writer, second in
            writer.object { writer in
                writer.member("at", Instant(seconds: second.at).rfc3339)
                writer.member("asked", second.counts.asked)
                writer.member("sent", second.counts.sent)
                writer.member("merged", second.counts.merged)
                writer.member("skipped", second.counts.skipped)
            }
        }
    }
}

extension JSONWriter {
    /// Writes the counts of events: `asked` is the sum of the others.
    fileprivate mutating func events(_ counts: EventCounts, waiting: Int64) {
        beginObject()
        member("asked", counts.decided + waiting)
        member("sent", counts.sent)
        member("merged", counts.merged)
        member("skipped", counts.skipped)
        member("expired", counts.expired)
        member("refused", counts.refused)
        member("waiting", waiting)
        name("skipped_by")
        beginObject()
        member("unchanged", counts.unchanged)
        member("superseded", counts.superseded)
        member("annihilated", counts.annihilated)
        member("no_route", counts.noRoute)
        member("on_channel", counts.onChannel)
        member("not_visible", counts.notVisible)
        member("start_wait", counts.startWait)
        endObject()
        endObject()
    }
}
