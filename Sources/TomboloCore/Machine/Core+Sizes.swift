// Sizes of the core's data. Tests check that they stay bounded.

/// Sizes in the core and its shell. Each is bounded by a limit, or by how many things exist now.
package struct CoreSizes: Hashable, Sendable {
    package var activities = 0
    package var destinations = 0
    /// Destinations, widgets and controls that wait for a place in an upstream.
    package var queued = 0
    package var deadlines = 0
    package var alerts = 0
    /// Tokens of all devices, including dead ones.
    package var tokens = 0
    /// Events in the pending batch.
    package var pendingEvents = 0
    package var deadLetters = 0
    /// How far the stored counts of cards are from a new count; 0 if they are right.
    package var miscounted = 0
    /// Inputs that wait until the present turn is over.
    package var inbox = 0
    package var unanswered = 0
}

extension Core {
    /// Scans all tables, so use it for checks, not in every turn.
    package var sizes: CoreSizes {
        var sizes = CoreSizes()
        sizes.activities = activities.keyCount
        sizes.destinations = destinations.count
        sizes.queued = upstreams.numbers.reduce(0) { $0 + upstreams[$1].waitingCount }
        sizes.deadlines = destinations.deadlines.count
        sizes.alerts = activities.reduce(0) { $0 + $1.alerts.count }
        sizes.tokens = devices.reduce(0) {
            $0 + ($1.map { $0.tokens.count + $0.retired.count } ?? 0)
        }
        sizes.pendingEvents = journal.eventCount
        sizes.deadLetters = deadLetters.count
        let names = audiences.nameCount
        sizes.miscounted =
            abs(audiences.cards.inAll - sizes.destinations - names)
            + abs(audiences.coming.cards.inAll - cardsComing)
        return sizes
    }

    private var cardsComing: Int {
        journal.comingEvents.reduce(0) { sum, one in
            sum + (one.definition.map { devices.cards(of: $0.audience, one.event.tenant) } ?? 0)
        }
    }
}
