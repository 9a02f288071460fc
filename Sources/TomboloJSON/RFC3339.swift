/// Times as in RFC 3339, in the proleptic Gregorian calendar.
package enum RFC3339 {
    /// All times in these years fit in 64 bits of nanoseconds.
    package static let years: ClosedRange<Int64> = 1678...2261

    /// The year, the seconds since 1970, and the nanoseconds after the last second.
    package static func parts(
        _ text: String
    ) -> (year: Int64, seconds: Int64, nanoseconds: Int64)? {
        var reader = DigitReader(Array(text.utf8))
        guard let year = reader.number(4), reader.passes("-"), let month = reader.number(2),
            reader.passes("-"), let day = reader.number(2), reader.passes("T", "t", " "),
            let hour = reader.number(2), reader.passes(":"), let minute = reader.number(2),
            reader.passes(":"), let second = reader.number(2), (1...12).contains(month),
            hour < 24, minute < 60, second < 61
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        guard (1...date.daysInMonth).contains(day) else { return nil }
        var fraction: Int64 = 0
        if reader.passes(".") {
            guard let nanoseconds = reader.fraction() else { return nil }
            fraction = nanoseconds
        }
        guard let offset = reader.offset(), reader.isAtEnd else { return nil }
        let seconds = date.days * 86_400 + hour * 3_600 + minute * 60 + second - offset
        if second == 60, seconds % 86_400 != 0 { return nil }
        return (year, seconds, fraction)
    }

    /// Such as `2026-11-20T09:03:00.123Z`.
    ///
    /// - Parameters:
    ///   - seconds: since 1970.
    ///   - fraction: the part of the last second, in so many digits as `digits` says; none for 0.
    package static func text(seconds: Int64, fraction: Int64 = 0, digits: Int = 0) -> String {
        let days = CivilDate.floorDivide(seconds, 86_400)
        let rest = seconds - days * 86_400
        let date = CivilDate(days: days)
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
            + "\(padded(rest / 3_600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))"
            + (digits > 0 ? "." + padded(fraction, digits) : "") + "Z"
    }
}

private struct DigitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func number(_ digits: Int) -> Int64? {
        guard position + digits <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[position..<position + digits] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        position += digits
        return value
    }

    mutating func passes(_ choices: Character...) -> Bool {
        guard position < bytes.count,
            choices.contains(where: { $0.asciiValue == bytes[position] })
        else { return false }
        position += 1
        return true
    }

    /// Reads at least one digit. Digits below a nanosecond are ignored.
    mutating func fraction() -> Int64? {
        var value: Int64 = 0
        var scale: Int64 = 100_000_000
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
            value += Int64(bytes[position] - 0x30) * scale
            scale /= 10
            position += 1
        }
        return position > start ? value : nil
    }

    /// Reads an offset, in seconds east of UTC.
    mutating func offset() -> Int64? {
        if passes("Z", "z") { return 0 }
        let sign: Int64
        if passes("+") { sign = 1 } else if passes("-") { sign = -1 } else { return nil }
        guard let hours = number(2), passes(":"), let minutes = number(2), hours < 24, minutes < 60
        else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }
}

private func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
