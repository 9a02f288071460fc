import Testing
import TomboloCore
import TomboloEventLog

extension EventLogContract {
    /// 60 events of three activities of two tenants, in turns: 1 and 2 of `lab`, 3 of `field`;
    /// every fifth is an `end`. 30 facts likewise.
    private static func filled(_ place: any EventLogPlace) async throws -> any EventLog {
        let log = try await place.recovered()
        for version in Int64(0)..<20 {
            var batch = Sample.batch(
                (1...3).map { activity in
                    Sample.event(
                        activity, after: version, version % 5 == 4 ? .end : .update,
                        tenant: activity == 3 ? Sample.field : Sample.lab)
                })
            if version < 10 {
                batch.facts = (1...3).map { activity in
                    Sample.fact(
                        "push.accepted", activity: activity == 2 ? nil : activity,
                        tenant: activity == 3 ? Sample.field : Sample.lab)
                }
            }
            _ = try await log.append(batch)
        }
        return log
    }

    static let reading = [
        EventLogContract("pages of any size join to the whole, oldest first") { place in
            let log = try await filled(place)
            let whole = try await Sample.allEvents(log, EventQuery(tenant: Sample.lab))
            #expect(whole.map(\.seq) == (1...60).filter { $0 % 3 != 0 })
            for (limit, scanMax) in [(1, 100_000), (7, 100_000), (40, 100_000), (7, 4), (7, 1)] {
                var query = EventQuery(tenant: Sample.lab)
                query.limit = limit
                query.scanMax = scanMax
                #expect(try await Sample.allEvents(log, query) == whole)
            }
        },

        EventLogContract("a page ends with the event or fact that fills its bytes") { place in
            let log = try await place.recovered()
            let body = "\"\(String(repeating: "x", count: 998))\""
            var batch = Sample.batch((0..<20).map { Sample.event(1, after: $0, body: body) })
            batch.facts = (0..<20).map { _ in
                NewFact(
                    tenant: Sample.lab, activity: nil, kind: "push.accepted",
                    recordedAt: Sample.noon,
                    body: Array(body.utf8))
            }
            _ = try await log.append(batch)
            var query = EventQuery(tenant: Sample.lab)
            for activity in [nil, ActivityNumber(1)] {
                (query.activity, query.bytesMax) = (activity, 4_001)
                let page = try await log.events(query)
                #expect(page.events.map(\.seq) == [1, 2, 3, 4, 5])
                #expect(page.next == 5)
                query.bytesMax = 0
                #expect(try await log.events(query).events.map(\.seq) == [1], "one at least")
                #expect(try await Sample.allEvents(log, query).count == 20)
            }
            var facts = FactQuery(tenant: Sample.lab)
            facts.bytesMax = 4_000
            let page = try await log.facts(facts)
            #expect(page.facts.map(\.seq) == [1, 2, 3, 4])
            #expect(page.next == 4)
        },

        EventLogContract("pages of an activity or a kind join to all of that") { place in
            let log = try await filled(place)
            for (limit, scanMax) in [(1, 100_000), (6, 100_000), (20, 100_000), (6, 5), (6, 1)] {
                var query = EventQuery(tenant: Sample.lab)
                query.limit = limit
                query.scanMax = scanMax
                query.activity = ActivityNumber(2)
                let second = try await Sample.allEvents(log, query)
                #expect(second.map(\.version) == Array(1...20))
                query.kind = .end
                let ends = try await Sample.allEvents(log, query)
                #expect(ends.map(\.version) == [5, 10, 15, 20])
                query.activity = nil
                let all = try await Sample.allEvents(log, query)
                #expect(all.map(\.seq) == [13, 14, 28, 29, 43, 44, 58, 59])
            }
        },

        EventLogContract("a page looks at no more rows than it may, and says where to go on") {
            place in
            let log = try await filled(place)
            var query = EventQuery(tenant: Sample.field)
            query.kind = .end
            query.scanMax = 2
            let page = try await log.events(query)
            #expect(page.events.isEmpty)
            #expect(page.next == 2, "rows of others do not count")
        },

        EventLogContract("there is no next page at the end, and none beyond it") { place in
            let log = try await filled(place)
            var query = EventQuery(tenant: Sample.lab)
            query.after = 60
            #expect(try await log.events(query).next == nil)
            query.after = .max
            #expect(try await log.events(query).next == nil)
            #expect(try await log.events(query).events.isEmpty)
            query.activity = ActivityNumber(99)
            query.after = 0
            #expect(try await log.events(query).events.isEmpty)
            #expect(try await log.events(query).next == nil)
        },

        EventLogContract("no question of one tenant is answered from another's rows") { place in
            let log = try await filled(place)
            #expect(try await log.event(seq: 3, tenant: Sample.lab) == nil)
            #expect(try await log.event(seq: 3, tenant: Sample.field)?.version == 1)
            #expect(try await log.event(seq: 61, tenant: Sample.lab) == nil)
            var foreign = EventQuery(tenant: Sample.lab)
            foreign.activity = ActivityNumber(3)
            #expect(try await Sample.allEvents(log, foreign).isEmpty)
            let stranger = Sample.tenant("stranger")
            #expect(try await log.events(EventQuery(tenant: stranger)).events.isEmpty)
            #expect(try await log.facts(FactQuery(tenant: stranger)).facts.isEmpty)
            let facts = try await log.facts(FactQuery(tenant: Sample.field)).facts
            #expect(facts.map(\.seq) == (1...30).filter { $0 % 3 == 0 })
        },

        EventLogContract("facts come in pages too, of all or of one activity") { place in
            let log = try await filled(place)
            var query = FactQuery(tenant: Sample.lab)
            query.limit = 15
            let first = try await log.facts(query)
            #expect(first.facts.map(\.seq) == Array((1...30).filter { $0 % 3 != 0 }.prefix(15)))
            query.after = try #require(first.next)
            let second = try await log.facts(query)
            #expect(second.facts.map(\.seq) == [23, 25, 26, 28, 29])
            #expect(second.next == nil)
            query.after = 0
            query.activity = ActivityNumber(1)
            let ofOne = try await log.facts(query).facts
            #expect(ofOne.map(\.seq) == (1...30).filter { $0 % 3 == 1 })
            #expect(ofOne.first?.fact == Sample.fact("push.accepted", activity: 1))
            query.scanMax = 1
            query.after = 1
            let short = try await log.facts(query)
            #expect(short.facts.isEmpty)
            #expect(short.next == 2)
        },
    ]
}
