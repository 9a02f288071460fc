extension Span {
    /// Reads `"90s"`, `"100ms"`, `"10m"`, `"8h"`, `"1.5s"`, or a sum such as `"1h30m"`. Returns nil
    /// for other texts, for a number without a unit, and for more than `most`.
    ///
    /// - Parameter most: the maximum; more than ten years count as ten years.
    package init?(text: String, atMost most: Span = Self.textMax) {
        let most = min(most, .hours(87_600)).nanoseconds
        var total: Int64 = 0
        var rest = Substring(text)
        guard (1...Self.textBytesMax).contains(text.utf8.count) else { return nil }
        while !rest.isEmpty {
            let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest.dropFirst(number.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard let value = Double(number), let scale = Self.units[String(unit)],
                value * scale <= Double(most)
            else { return nil }
            // Each part, and the sum before it, is at most `most`, so the new sum cannot overflow.
            total += Int64((value * scale).rounded())
            guard total <= most else { return nil }
        }
        self.init(nanoseconds: total)
    }

    /// 100 days: no duration in a request needs to be longer.
    package static let textMax = Span.hours(2_400)
    /// Longer texts are refused, because they take long to read.
    static let textBytesMax = 64

    private static let units: [String: Double] = [
        "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3_600e9, "d": 86_400e9,
    ]

    /// A short text: `1s`, `1.5s`, `100ms`, `10m`, `8h`, `0.000001s`. `init(text:)` reads exactly
    /// this length from it.
    package var text: String {
        if nanoseconds < 0 { return "-\(Span(nanoseconds: -max(nanoseconds, -.max)).text)" }
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
        // Digits of a whole number, because a Double of a short length prints an exponent.
        let digits = String(1_000_000_000 + nanoseconds % 1_000_000_000).dropFirst()
        let fraction = digits.prefix(through: digits.lastIndex { $0 != "0" } ?? digits.startIndex)
        // A Double of many seconds has no place for nanoseconds, so the hours come first.
        guard self < .hours(240) else {
            let hours = nanoseconds / Span.hours(1).nanoseconds
            return "\(hours)h\(Span(nanoseconds: nanoseconds % Span.hours(1).nanoseconds).text)"
        }
        return "\(nanoseconds / 1_000_000_000).\(fraction)s"
    }

    /// A text for people: below 10 s to the millisecond, below an hour to the second, below a day
    /// to the minute, else to the hour: `8.5s`, `12m30s`, `1h59m`, `399d23h`.
    package var roundedText: String {
        let unit: Span =
            self < .seconds(10)
            ? .milliseconds(1)
            : self < .hours(1) ? .seconds(1) : self < .hours(24) ? .minutes(1) : .hours(1)
        var rest = rounded(to: unit)
        guard rest >= .seconds(10) else { return rest.text }
        var text = ""
        for (name, scale): (String, Span) in [
            ("d", .hours(24)), ("h", .hours(1)), ("m", .minutes(1)), ("s", .seconds(1)),
        ] where rest >= scale {
            text += "\(rest.nanoseconds / scale.nanoseconds)\(name)"
            rest.nanoseconds %= scale.nanoseconds
        }
        return text
    }

    /// Rounds to the nearest multiple of `unit`.
    package func rounded(to unit: Span) -> Span {
        let half = min(nanoseconds, .max - unit.nanoseconds) + unit.nanoseconds / 2
        return Span(nanoseconds: half / unit.nanoseconds * unit.nanoseconds)
    }

    /// The length in seconds.
    package var seconds: Double { Double(nanoseconds) / 1e9 }
}
