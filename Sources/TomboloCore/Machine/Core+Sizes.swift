// How much the core remembers: what bounds are checked against.

/// Counts of what the core and its shell hold; each is bounded by what lives, or by a limit.
package struct CoreSizes: Hashable, Sendable {
    package var activities = 0
    package var destinations = 0
    /// Destinations, widgets and controls that wait for a place in a lane.
    package var queued = 0
    package var deadlines = 0
    /// Alerts that may still go, of all activities.
    package var alerts = 0
    /// Tokens of all devices, retired ones too.
    package var tokens = 0
    /// Events that wait for the next batch.
    package var staged = 0
    package var deadLetters = 0
    /// Cards and names of devices that are counted and not there, or there and not counted.
    package var miscounted = 0
    /// Inputs that wait for the end of the turn.
    package var inbox = 0
    /// Requests without an answer.
    package var unanswered = 0
}

extension Core {
    /// Costs a look at everything: for checks, not for every turn.
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
        sizes.staged = journal.eventCount
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
