import TestSupport
import Testing
import TomboloJSON

@testable import TomboloCore
@testable import TomboloProgram

/// The machine's zones are read as `zdump` reads them.
@Suite struct ZoneDirectoryTests {
    private static let zones = [
        "Europe/Berlin", "Europe/London", "Europe/Dublin", "Europe/Istanbul", "Europe/Moscow",
        "America/New_York", "America/Sao_Paulo", "America/St_Johns", "America/Caracas",
        "America/Nuuk", "America/Santiago", "Asia/Gaza", "Asia/Dhaka", "Asia/Tehran",
        "Asia/Pyongyang", "Africa/Casablanca", "Africa/Cairo", "Australia/Lord_Howe",
        "Pacific/Apia", "Pacific/Chatham", "Antarctica/Troll",
    ]

    @Test(arguments: zones)
    func `from 1990 to 2050 each change is at its second`(zone: String) async throws {
        let text = try await onLoop { loop in
            try await SubprocessOutput(
                "zdump", ["-v", "-c", "1990,2051", zone], on: loop, withErrors: false
            ).wait()
        }
        let rules = try #require(ZoneDirectory.shared.rules(of: zone))
        let lines = text.split(separator: "\n").compactMap(Self.line)
        #expect(lines.count >= 4)
        for (moment, offset) in lines {
            #expect(rules.offset(at: moment) == .seconds(offset), "\(zone) \(moment.rfc3339)")
            // Of the two moments that a clock shows alike, the first.
            let back = rules.instant(ofLocal: moment.seconds + offset)
            #expect(back <= moment, "\(zone) \(moment.rfc3339)")
            #expect(rules.localSeconds(at: back) == moment.seconds + offset)
        }
    }

    /// Of `Europe/Berlin  Sun Mar 25 00:59:59 1990 UT = … isdst=0 gmtoff=3600`.
    private static func line(_ text: Substring) -> (Instant, Int64)? {
        let words = text.split(separator: " ")
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        guard words.count > 6, let offset = words.last?.split(separator: "=").last,
            words.last?.hasPrefix("gmtoff") == true, let seconds = Int64(offset),
            let month = months.firstIndex(of: String(words[2])), let day = Int64(words[3]),
            let year = Int64(words[5]), (1990...2050).contains(year)
        else { return nil }
        let date = CivilDate(year: year, month: Int64(month + 1), day: day)
        let time = words[4].split(separator: ":").compactMap { Int64($0) }
        guard time.count == 3 else { return nil }
        return (
            Instant(seconds: date.days * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]),
            seconds
        )
    }

    @Test(arguments: [
        "", "Mars/Base", "europe/berlin", "../../etc/passwd", "/etc/localtime", "Europe",
        "Europe//Berlin", "Europe/", "tzdata.zi", "posix/Europe/Berlin", "Europe/Berlin\0",
        String(repeating: "A", count: 10_000),
    ])
    func `what is no zone has no rules`(name: String) {
        #expect(ZoneDirectory.shared.rules(of: name) == nil)
    }
}
