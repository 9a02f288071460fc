extension Span {
    /// Reads `"90s"`, `"100ms"`, `"10m"`, `"8h"`, `"1.5s"` or a sum such as `"1h30m"`. Answers nil
    /// for anything else, also for a number without a unit, and for more than 100 days.
    package init?(text: String) {
        var total: Int64 = 0
        var rest = Substring(text)
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest.dropFirst(number.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard let value = Double(number), let scale = Self.units[String(unit)],
                value * scale <= 100 * 86_400e9
            else { return nil }
            total += Int64((value * scale).rounded())
        }
        guard total <= 100 * 86_400 * 1_000_000_000 else { return nil }
        self.init(nanoseconds: total)
    }

    private static let units: [String: Double] = [
        "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3_600e9, "d": 86_400e9,
    ]

    /// The shortest of the spellings that `init(text:)` reads: `1s`, `1.5s`, `100ms`, `10m`, `8h`.
    package var text: String {
        let scales: [(String, Int64)] = [
            ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
        ]
        for (unit, scale) in scales where nanoseconds != 0 && nanoseconds % scale == 0 {
            return "\(nanoseconds / scale)\(unit)"
        }
        if nanoseconds == 0 { return "0s" }
        if nanoseconds % 1_000_000 == 0, nanoseconds < 1_000_000_000 {
            return "\(nanoseconds / 1_000_000)ms"
        }
        return "\(Double(nanoseconds) / 1e9)s"
    }

    /// As seconds, for people and for rates.
    package var seconds: Double { Double(nanoseconds) / 1e9 }
}
