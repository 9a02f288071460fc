import Testing
import TomboloCore
import TomboloEventLog

extension EventLogContract {
    /// 60 facts of `lab`, a minute apart: of activities 1 to 3 in turns, of phone-1 and phone-12 in
    /// turns; every tenth is of kind `push.refused`, of those for phone-1 every third is about no
    /// device: in turns about a channel of the same name, and about nothing. Between any two of
    /// them is one of `field`.
    private static func filled(_ place: any EventLogPlace) async throws -> any EventLog {
        let log = try await place.recovered()
        for number in 1...60 {
            var batch = AppendBatch()
            batch.facts = [fact(number), fact(number, of: Sample.field)]
            _ = try await log.append(batch)
        }
        return log
    }

    private static func fact(_ number: Int, of tenant: TenantID = Sample.lab) -> NewFact {
        let device = number % 2 == 0 ? "phone-1" : "phone-12"
        let body =
            switch number % 12 {
            case 0: #"{"n":1,"device":"phone-1"}"#
            case 6: #"{"channel":"phone-1","n":1}"#
            default: #"{"device":"\#(device)","n":1}"#
            }
        return NewFact(
            tenant: tenant, activity: ActivityNumber(Int64(number % 3 + 1)),
            kind: number % 10 == 0 ? "push.refused" : "push.accepted",
            recordedAt: Sample.noon + .minutes(Int64(number)), body: Array(body.utf8))
    }

    private struct Question {
        var ask: FactQuery
        /// The numbers of `fact` that answer it.
        var numbers: [Int]

        init(_ change: (inout FactQuery) -> Void, _ isAnswer: (Int) -> Bool) {
            ask = FactQuery(tenant: Sample.lab)
            change(&ask)
            numbers = (1...60).filter(isAnswer)
        }
    }

    private static func questions() throws -> [Question] {
        let one = try #require(Identifier("phone-1"))
        let other = try #require(Identifier("phone-12"))
        return [
            Question({ _ in }, { _ in true }),
            Question({ $0.activity = ActivityNumber(2) }, { $0 % 3 == 1 }),
            Question({ $0.recipient = .device(one) }, { $0 % 2 == 0 && $0 % 6 != 0 }),
            Question({ $0.recipient = .channel(one) }, { $0 % 12 == 6 }),
            Question({ $0.recipient = .channel(other) }, { _ in false }),
            Question({ $0.recipient = .device(other) }, { $0 % 2 == 1 }),
            Question({ $0.kinds = ["push.refused", "push.lost"] }, { $0 % 10 == 0 }),
            Question({ $0.kinds = [] }, { _ in false }),
            Question(
                {
                    ($0.activity, $0.recipient) = (ActivityNumber(2), .device(one))
                    $0.kinds = ["push.refused"]
                }, { $0 % 30 == 10 }),
            Question(
                {
                    $0.from = Sample.noon + .minutes(20)
                    $0.until = Sample.noon + .minutes(40)
                }, { (20..<40).contains($0) }),
            Question({ ($0.after, $0.before) = (10, 31) }, { (11...30).contains($0) }),
            Question({ ($0.after, $0.before) = (30, 31) }, { _ in false }),
            Question({ $0.before = .min }, { _ in false }),
            Question({ $0.before = .max }, { _ in true }),
        ]
    }

    /// All pages of `query`, joined.
    private static func places(_ log: any EventLog, _ query: FactQuery) async throws -> [Int64] {
        var (query, places): (FactQuery, [Int64]) = (query, [])
        while true {
            let page = try await log.facts(query)
            #expect(page.facts.count <= query.limit)
            #expect(page.facts.allSatisfy { $0.fact.tenant == query.tenant })
            places += page.facts.map(\.tenantSeq)
            guard let next = page.next else { return places }
            let before = (query.after, query.before)
            query.goOn(at: next)
            try #require(
                query.after > before.0 || query.before ?? .max < before.1 ?? .max,
                "a page always leads on")
        }
    }

    static let facts = [
        EventLogContract("facts come oldest or newest first, by device, kind, activity and time") {
            place in
            let log = try await filled(place)
            for question in try questions() {
                for (limit, scanMax) in [(100, 100_000), (7, 100_000), (7, 4), (1, 1)] {
                    var query = question.ask
                    (query.limit, query.scanMax) = (limit, scanMax)
                    let rising = try await places(log, query)
                    #expect(rising == question.numbers.map(Int64.init), "\(query)")
                    query.order = .newestFirst
                    let falling = try await places(log, query)
                    #expect(falling == question.numbers.reversed().map(Int64.init), "\(query)")
                }
            }
        },

        EventLogContract("a page of the newest facts ends with what fills its bytes") { place in
            let log = try await filled(place)
            var query = FactQuery(tenant: Sample.lab)
            (query.order, query.bytesMax, query.before) = (.newestFirst, 60, 60)
            let page = try await log.facts(query)
            #expect(page.facts.map(\.tenantSeq) == [59, 58, 57])
            #expect(page.next == 57)
            query.before = 2
            #expect(try await log.facts(query).next == nil)
        },

        EventLogContract("a fact is found by its place among its tenant's") { place in
            let log = try await filled(place)
            for place in [Int64(1), 30, 60] {
                let found = try await log.fact(tenantSeq: place, tenant: Sample.field)
                #expect(found?.tenantSeq == place)
                #expect(found?.fact == fact(Int(place), of: Sample.field))
            }
            for place in [Int64.min, -1, 0, 61, .max] {
                #expect(try await log.fact(tenantSeq: place, tenant: Sample.field) == nil)
            }
            let stranger = Sample.tenant("stranger")
            #expect(try await log.fact(tenantSeq: 1, tenant: stranger) == nil)
        },
    ]
}
