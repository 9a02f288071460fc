import Glibc
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLog
import TomboloSQLite

/// The directory that a child of the test below appends to; nobody's in an ordinary run.
private let childDirectory = getenv("TOMBOLO_TEST_APPEND_TO").map { String(cString: $0) }
/// Where the child says what is durable.
private let childOutput: Int32 = 3

/// The event that stands at `seq`, whoever appends it.
private func event(at seq: Int64) -> NewEvent {
    Sample.event(
        seq % 7, after: (seq - 1) / 7, at: Sample.noon + Span(nanoseconds: seq),
        body: "{\"n\":\(seq),\"pad\":\"\(String(repeating: "x", count: Int(seq % 500)))\"}",
        key: seq % 3 == 0 ? "key-\(seq)" : nil)
}

/// Appends batches of 1 to 40 events for ever, and writes a line for each that is acknowledged.
@Test(.enabled(if: childDirectory != nil, "it is only run by the next test"))
func `a child appends until it is killed`() async throws {
    var chance = SplitMix64(seed: 1)
    let directory = try #require(childDirectory)
    let log = try SQLiteEventLog(directory: directory, chance: &chance)
    var next = try await log.recover(idempotencySince: .distantPast).lastSeq + 1
    while true {
        let events = (next...next + .random(in: 0..<40)).map { event(at: $0) }
        next = try await log.append(Sample.batch(events)).firstSeq + Int64(events.count)
        let line = Array("\(next - 1)\n".utf8)
        guard write(childOutput, line, line.count) == line.count else { return }
    }
}

/// Runs the child until it has acknowledged `count` batches, kills it in the middle of the next
/// ones, and answers the last sequence that it acknowledged.
private func killedChild(in directory: String, after count: Int) throws -> Int64 {
    let child = try Subprocess(
        "/proc/self/exe",
        [
            "--testing-library", "swift-testing", "--filter",
            "a child appends until it is killed",
        ],
        environment: ["TOMBOLO_TEST_APPEND_TO=\(directory)", "SWIFT_BACKTRACE=enable=no"],
        streams: [childOutput: .pipe])
    var lines: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
        let got = read(child.descriptor(childOutput), &chunk, chunk.count)
        guard got > 0 else { break }
        lines += chunk.prefix(got)
        if lines.count(where: { $0 == 10 }) >= count { child.signal(SIGKILL) }
    }
    child.wait()
    let acknowledged = lines.split(separator: 10).last.map { String(decoding: $0, as: UTF8.self) }
    return try #require(acknowledged.flatMap { Int64($0) }, "the child appended")
}

@Test func `a child killed in the middle of appending loses nothing that it acknowledged`()
    async throws
{
    let place = SQLitePlace()
    for round in 1...5 {
        let acknowledged = try killedChild(in: place.directory, after: round * 7)
        let log = try place.reopen()
        let recovered = try await log.recover()
        #expect(recovered.damage.isEmpty)
        #expect(recovered.lastSeq >= acknowledged)
        #expect(recovered.lastSeq <= acknowledged + 40, "at most the batch in flight is there too")
        let events = try await log.history(after: 0, limit: .max)
        #expect(events.count == Int(recovered.lastSeq))
        for recorded in events where recorded.event != event(at: recorded.seq) {
            Issue.record("event \(recorded.seq) is another one")
        }
        #expect(recovered.idempotency.table.seqs.count == events.count / 3)
        await log.close()
    }
}
