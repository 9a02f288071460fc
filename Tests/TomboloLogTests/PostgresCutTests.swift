#if Postgres
import Glibc
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog
@testable import TomboloPostgres

/// Commits that are cut off: at six places of a transaction something ends. What was acknowledged
/// is there, and nothing is there twice. `TOMBOLO_CUT_ROUNDS` says how often; the server ends only
/// where it is given, as others have it too.
@Suite(.enabled(if: PostgresPlace.isThere), .serialized) struct PostgresCutTests {
    private static let rounds = getenv("TOMBOLO_CUT_ROUNDS").flatMap { Int(String(cString: $0)) }

    enum Place: CaseIterable {
        case beforeBegin, beforeFence, withinRow, beforeCommit, beforeSync, beforeAnswer
    }

    enum Deed: CaseIterable {
        case backend, server, relay, connection, silence

        static var tried: [Deed] { rounds == nil ? [.backend, .connection] : allCases }
    }

    /// One relay after another on a log, behind a proxy.
    private final class Cutting {
        let place = PostgresPlace()
        let proxy: WireProxy
        let lease: PostgresLease
        private(set) var log: EngineEventLog
        private var patience: PostgresPatience
        private var activities = SampleActivities()

        init() throws {
            let port = try #require(place.database.words["port"].flatMap { UInt16($0) })
            proxy = try WireProxy(to: port)
            _ = try PostgresEventLog.create(place.database, pepper: [1])
            var chance = PostgresPlace.newChance()
            patience = PostgresPatience(milliseconds: 300)
            lease = try PostgresLease(
                PostgresConnection(place.database, patience),
                holder: PostgresLease.newHolder(chance.next()), PostgresPlace.clock)
            log = try Self.log(place.database, lease, proxy)
        }

        private static func log(
            _ database: PostgresDatabase, _ lease: PostgresLease, _ proxy: WireProxy
        ) throws -> EngineEventLog {
            var chance = SplitMix64(seed: 1)
            var proxied = database
            proxied.words["port"] = "\(proxy.port)"
            proxied.words["sslmode"] = "disable"
            let engine = try PostgresEngine(lease, proxied)
            let isNew = try engine.edge(.meta, .rising, in: .min ... .max) == nil
            let writer = try LogWriter(engine, isNew: isNew, chance: &chance)
            func reader() throws -> LogReader {
                try LogReader(PostgresEventLog.reading(database), damage: DamageList())
            }
            return try EngineEventLog(
                writer, reading: reader(), looking: reader(), damage: DamageList(), lastRun: nil,
                room: PostgresRoom(), closed: {})
        }

        /// An event and a fact.
        func batch() -> AppendBatch {
            let event = activities.next(1, "{}", at: Sample.noon)
            var batch = activities.batch([event])
            batch.facts = [Sample.fact("push.accepted", activity: 1)]
            return batch
        }

        func killRelay() async throws {
            await log.close()
            log = try Self.log(place.database, lease, proxy)
        }
    }

    private static func end(_ deed: Deed, _ cutting: Cutting) throws {
        switch deed {
        case .backend:
            var name = PostgresValues()
            name.add(cutting.lease.writerName)
            _ = try PostgresConnection(cutting.place.database).ask(
                """
                SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
                WHERE application_name = $1::text
                """, name)
            cutting.proxy.end(.goOn)
        case .server:
            let script = try #require(getenv("TOMBOLO_POSTGRES_RESTART"))
            #expect(system(script) == 0)
            cutting.proxy.end(.goOn)
        case .relay, .connection: cutting.proxy.end(.cut)
        case .silence: cutting.proxy.end(.silent)
        }
    }

    @Test(arguments: Place.allCases, Deed.tried)
    func `an event is stored once, whatever ends`(place: Place, deed: Deed) async throws {
        let cutting = try Cutting()
        var stored: Int64 = 0
        for _ in 0..<(Self.rounds ?? 1) {
            // Its statements are prepared then: the next transaction has as many messages.
            var (all, before) = (0, 0)
            repeat {
                before = all
                _ = try await cutting.log.append(cutting.batch())
                stored += 1
                all = cutting.proxy.lastCount
            } while all != before
            switch place {
            case .beforeBegin: cutting.proxy.stop(after: 0)
            case .beforeFence: cutting.proxy.stop(after: 3)
            case .withinRow: cutting.proxy.stop(after: all - 7, half: true)
            case .beforeCommit: cutting.proxy.stop(after: all - 4)
            case .beforeSync: cutting.proxy.stop(after: all - 1)
            case .beforeAnswer: cutting.proxy.stop(after: all, keepsAnswers: true)
            }
            let (log, batch) = (cutting.log, cutting.batch())
            async let receipt = log.append(batch)
            #expect(await cutting.proxy.waitUntilStopped())
            if deed == .relay { log.hurry() }
            try Self.end(deed, cutting)
            do {
                _ = try await receipt
            } catch {
                #expect(deed == .relay, "\(error)")
            }
            if deed == .relay {
                try await cutting.killRelay()
                // Its producer asks again.
                do throws(EventLogError) { _ = try await cutting.log.append(batch) } catch {
                    guard case .versionConflict = error else { throw error }
                }
            }
            stored += 1
        }
        let events = try await cutting.log.history(after: 0, limit: 1_000)
        #expect(events.map(\.version) == Array(1...stored))
        #expect(try LogVerification(cutting.place.reading()).run { _ in }.wrong == [])
        await cutting.log.close()
        cutting.place.drop()
    }
}
#endif
