import Testing
import TomboloAPI
import TomboloCore
import TomboloEventLog

@testable import TomboloServer

/// An activity's past where events of it cannot be read.
@Suite struct PastFoldTests {
    private static let noon = Instant(seconds: 1_795_000_000)

    private func event(_ version: Int64, _ kind: EventKind = .update) -> RecordedEvent {
        let body = kind == .start ? #"{"type":"T","state":{"n":1}}"# : #"{"state":{"n":2}}"#
        let event = NewEvent(
            tenant: .main, activity: ActivityNumber(1), expectedVersion: version - 1, kind: kind,
            recordedAt: Self.noon + .seconds(version), body: Array(body.utf8))
        return RecordedEvent(seq: version * 10, previous: 0, event: event)
    }

    /// The versions that are left lead to the moment; answers the version shown, or the problem.
    private func shown(
        _ left: [(Int64, EventKind)], at moment: LogMoment, newest: Int64, hasDamage: Bool = true
    ) -> String {
        var past = PastFold(moment)
        past.hasDamage = hasDamage
        do throws(Problem) {
            for (version, kind) in left {
                guard try past.follow(event(version, kind)) else {
                    return "\(past.last?.version ?? 0)"
                }
            }
            try past.finish(newest: newest)
            return "\(past.last?.version ?? 0)"
        } catch {
            return error.code.rawValue
        }
    }

    @Test func `a state that needs an event which cannot be read is refused, no other`() {
        let left: [(Int64, EventKind)] = [(1, .start), (2, .update), (4, .update), (5, .start)]
        for (place, expected) in [
            (10, "1"), (20, "2"), (30, "event-damaged"), (39, "event-damaged"),
            (40, "event-damaged"), (45, "event-damaged"), (50, "5"), (60, "5"),
        ] {
            let found = shown(left, at: .tenantSeq(Int64(place)), newest: 5)
            #expect(found == expected, "at \(place)")
        }
        let between = LogMoment.instant(Self.noon + .seconds(3))
        #expect(shown(left, at: between, newest: 5) == "event-damaged")
        #expect(shown(left, at: .instant(Self.noon + .seconds(1)), newest: 5) == "1")
    }

    @Test func `the newest and the first event are missed too`() {
        let left: [(Int64, EventKind)] = [(1, .start), (2, .update)]
        #expect(shown(left, at: .tenantSeq(20), newest: 3) == "2")
        #expect(shown(left, at: .tenantSeq(30), newest: 3) == "event-damaged")
        #expect(shown(left, at: .instant(.distantFuture), newest: 3) == "event-damaged")
        #expect(shown([(2, .update)], at: .tenantSeq(20), newest: 2) == "event-damaged")
        #expect(shown([], at: .tenantSeq(20), newest: 2) == "event-damaged")
        #expect(
            shown([(7, .update)], at: .tenantSeq(90), newest: 7, hasDamage: false)
                == "unknown-activity", "what is old was cut")
    }
}
