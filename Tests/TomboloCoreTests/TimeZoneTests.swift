import Testing

@testable import TomboloCore

/// Zones as the tests need them, by their rules.
struct RuledZones: TimeZoneSource {
    static let texts = [
        "Europe/Berlin": "CET-1CEST,M3.5.0,M10.5.0/3",
        "America/New_York": "EST5EDT,M3.2.0,M11.1.0",
        "Australia/Lord_Howe": "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
        "Asia/Tokyo": "JST-9",
    ]

    static func rules(_ text: String) -> TimeZoneRules? {
        PosixZoneRule(Array(text.utf8)).map {
            TimeZoneRules(first: $0.standard, changes: [], rule: $0)
        }
    }

    func rules(of name: String) -> TimeZoneRules? { Self.texts[name].flatMap(Self.rules) }
}

@Suite struct TimeZoneTests {
    private func local(_ text: String) -> Int64 { Instant(rfc3339: text)!.seconds }

    private func utc(_ text: String, in zone: String) -> String? {
        RuledZones().rules(of: zone)?.instant(ofLocal: local(text)).rfc3339InSeconds
    }

    @Test(arguments: [
        ("Europe/Berlin", "2026-01-05T06:00:00Z", "2026-01-05T05:00:00Z"),
        ("Europe/Berlin", "2026-07-06T06:00:00Z", "2026-07-06T04:00:00Z"),
        // The clocks leap from 02:00 to 03:00: the moment of the leap.
        ("Europe/Berlin", "2026-03-29T02:00:00Z", "2026-03-29T01:00:00Z"),
        ("Europe/Berlin", "2026-03-29T02:30:00Z", "2026-03-29T01:00:00Z"),
        ("Europe/Berlin", "2026-03-29T03:00:00Z", "2026-03-29T01:00:00Z"),
        ("Europe/Berlin", "2026-03-29T01:59:59Z", "2026-03-29T00:59:59Z"),
        // 02:30 comes twice: the first.
        ("Europe/Berlin", "2026-10-25T02:30:00Z", "2026-10-25T00:30:00Z"),
        ("Europe/Berlin", "2026-10-25T03:00:00Z", "2026-10-25T02:00:00Z"),
        ("America/New_York", "2026-03-08T02:15:00Z", "2026-03-08T07:00:00Z"),
        ("America/New_York", "2026-11-01T01:30:00Z", "2026-11-01T05:30:00Z"),
        // Half an hour, and summer in January.
        ("Australia/Lord_Howe", "2026-01-15T12:00:00Z", "2026-01-15T01:00:00Z"),
        ("Australia/Lord_Howe", "2026-04-05T01:45:00Z", "2026-04-04T14:45:00Z"),
        ("Asia/Tokyo", "2099-12-31T23:59:59Z", "2099-12-31T14:59:59Z"),
    ])
    func `a clock's time is one moment`(zone: String, local: String, wanted: String) {
        #expect(utc(local, in: zone) == wanted)
    }

    @Test func `a day that a zone never had is the moment of its leap`() {
        // As Samoa went over the date line: from 10 h west to 14 h east.
        let leap = Instant(rfc3339: "2011-12-30T10:00:00Z")!.seconds
        let rules = TimeZoneRules(
            first: -36_000, changes: [.init(at: leap, offset: 50_400)], rule: nil)
        let gone = rules.instant(ofLocal: local("2011-12-30T12:00:00Z"))
        #expect(gone.rfc3339InSeconds == "2011-12-30T10:00:00Z")
        let after = rules.instant(ofLocal: local("2011-12-31T06:00:00Z"))
        #expect(after.rfc3339InSeconds == "2011-12-30T16:00:00Z")
    }

    @Test(arguments: [
        "", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "C-1",
        "CET-25", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J365",
        "CET-1CEST,M3.5.0,M10.5.0x", "<CET-1", "CET-1CEST,366,0", "CET-1:60",
    ])
    func `an invalid rule is refused`(text: String) {
        #expect(PosixZoneRule(Array(text.utf8)) == nil)
    }

    @Test func `a rule may have days of the year, and times of other days`() throws {
        // Daylight-saving time all year, as RFC 8536 writes it.
        let always = try #require(RuledZones.rules("XXX3EDT4,0/0,J365/23"))
        for day in stride(from: 0, to: 730, by: 7) {
            let moment = Instant(seconds: 1_700_000_000 + Int64(day) * 86_400)
            #expect(always.offset(at: moment) == .hours(-4))
        }
        // The last Sunday's eve, by negative hours (America/Nuuk).
        let nuuk = try #require(RuledZones.rules("<-02>2<-01>,M3.5.0/-1,M10.5.0/0"))
        let before = Instant(rfc3339: "2026-03-29T00:59:59Z")!
        #expect(nuuk.offset(at: before) == .hours(-2))
        #expect(nuuk.offset(at: before + .seconds(1)) == .hours(-1))
    }

    /// A file with one change and a rule, as `zic` writes them.
    private static func file(
        footer: String = "\nJST-9\n", count: UInt8 = 1, type: UInt8 = 0, version: Character = "2",
        leaps: UInt8 = 0, time: [UInt8] = [0, 0, 0, 0, 0x12, 0x34, 0x56, 0x78]
    ) -> [UInt8] {
        func header(_ times: UInt8, _ leaps: UInt8) -> [UInt8] {
            Array("TZif".utf8) + [version.asciiValue!] + [UInt8](repeating: 0, count: 15)
                + [0, 0, 0, 0] + [0, 0, 0, 0] + [0, 0, 0, leaps] + [0, 0, 0, times]
                + [0, 0, 0, 1] + [0, 0, 0, 4]
        }
        let offset: [UInt8] = [0, 0, 0x7e, 0x90, 0, 0] + Array("JST".utf8) + [0]
        return header(0, 0) + offset + header(count, leaps)
            + time + [type] + offset + Array(footer.utf8)
    }

    @Test func `a zone's file is read, and no damage of it traps`() throws {
        let whole = Self.file()
        #expect(try TimeZoneRules(tzif: whole).offset(at: Instant(seconds: 0)) == .hours(9))
        #expect(throws: TimeZoneError.self) { try TimeZoneRules(tzif: Self.file(version: "\0")) }
        #expect(throws: TimeZoneError.self) { try TimeZoneRules(tzif: Self.file(type: 1)) }
        #expect(throws: TimeZoneError.self) { try TimeZoneRules(tzif: Self.file(leaps: 1)) }
        #expect(throws: TimeZoneError.self) { try TimeZoneRules(tzif: Self.file(count: 2)) }
        #expect(throws: TimeZoneError.self) {
            try TimeZoneRules(tzif: Self.file(footer: "\nJST\n"))
        }
        let first = [0x80] + [UInt8](repeating: 0, count: 7)
        #expect(throws: Never.self) { try TimeZoneRules(tzif: Self.file(time: first)) }
        for length in whole.indices {
            let error = #expect(throws: TimeZoneError.self) {
                try TimeZoneRules(tzif: Array(whole.prefix(length)))
            }
            #expect(error?.message.isEmpty == false)
        }
        var chance = Chance(1)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<3 {
                bytes[Int.random(in: bytes.indices, using: &chance)] =
                    UInt8.random(in: 0...255, using: &chance)
            }
            guard let rules = try? TimeZoneRules(tzif: bytes) else { continue }  // refused is good
            let moment = Instant(seconds: Int64.random(in: -1 << 33...1 << 33, using: &chance))
            let offset = rules.offset(at: moment)
            #expect(offset >= .hours(-26) && offset <= .hours(26))
            _ = rules.instant(ofLocal: moment.seconds)
        }
    }
}
