import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLog
import TomboloSQLite

/// Activities 1 to 8, of which 1 is full of "secret-1", and so on; long bodies among them, that
/// need pages of their own.
private func fill(_ writer: LogWriter, isRetired: Bool) throws {
    var activities = SampleActivities()
    for round in Int64(0)..<30 {
        let events = (Int64(1)...8).map { activity in
            let pad = String(repeating: "secret-\(activity) ", count: round % 20 == 7 ? 2_000 : 20)
            return activities.next(
                activity, "{\"r\":\(round),\"pad\":\"\(pad)\"}", kind: round == 29 ? .end : .update,
                at: Sample.noon, devices: ["phone-\(activity)"], key: "key-\(activity)-\(round)")
        }
        var batch = activities.batch(events)
        batch.facts = (1...8).map { Sample.fact("push.accepted", activity: $0) }
        _ = try writer.store([batch])[0].get()
    }
    guard isRetired else { return }
    var retiring = AppendBatch()
    retiring.retired = (1...8).map {
        RetiredActivity(
            activity: ActivityNumber($0), name: SampleActivities.name($0), endedAt: Sample.noon)
    }
    _ = try writer.store([retiring])[0].get()
}

private let third = LogErasure(.activity(ActivityNumber(3)), of: Sample.lab)

private func writer(_ place: SQLitePlace) throws -> LogWriter {
    var chance = SplitMix64(seed: 1)
    return try LogWriter(
        path: place.directory + "/tombolo.db", retention: .standard, chance: &chance)
}

/// What is taken out of the log is out of its files.
@Suite struct OverwritingTests {
    @Test(arguments: [false, true])
    func `nothing of what is erased is left in the files`(isRetired: Bool) throws {
        let place = SQLitePlace()
        let writer = try writer(place)
        try fill(writer, isRetired: isRetired)
        #expect(try place.has("secret-3"))
        #expect(try writer.erase(third).isOutOfFile)
        #expect(try !place.has("secret-3"))
        #expect(try !place.has("activity-3"), "nor its name")
        let device = try #require(Identifier("phone-1"))
        #expect(try writer.erase(LogErasure(.device(device), of: Sample.lab)).isOutOfFile)
        #expect(try !place.has("secret-1"))
        #expect(try !place.has("\"phone-1\""))
        #expect(try place.has("secret-4"))
    }

    @Test func `what is cut is overwritten`() throws {
        let place = SQLitePlace()
        let writer = try writer(place)
        try fill(writer, isRetired: true)
        let late = Sample.event(99, after: 0, at: Sample.noon + .hours(760))
        _ = try writer.store([Sample.batch(late)])[0].get()
        while writer.cutIfDue().goesOn {}
        // An erasure of nothing empties the write-ahead log.
        let nothing = LogErasure(.activity(ActivityNumber(0)), of: Sample.lab)
        #expect(try writer.erase(nothing).isOutOfFile)
        #expect(try !place.has("secret-"))
        #expect(try !place.has("activity-7"), "nor a name")
    }

    @Test func `while somebody reads, it is said that the bytes are there still`() throws {
        let place = SQLitePlace()
        let writer = try writer(place)
        try fill(writer, isRetired: false)
        var erased: LogErased?
        try LogExport(path: place.directory + "/tombolo.db").run { _ in
            if erased == nil { erased = try writer.erase(third) }
        }
        #expect(erased?.isOutOfFile == false)
        #expect(try place.has("secret-3"))
        #expect(try writer.erase(third).isOutOfFile)
        #expect(try !place.has("secret-3"))
    }
}
