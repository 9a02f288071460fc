extension WallInstant {
    /// Formats the time as RFC 3339 in UTC with six decimal places: `2026-11-20T09:15:42.041000Z`.
    ///
    /// Microseconds keep the times of frames distinct.
    package var rfc3339: String {
        let microseconds = (nanoseconds - seconds * 1_000_000_000) / 1_000
        let day = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let second = seconds - day * 86_400
        let date = Self.civilDate(ofDay: day)
        return Self.padded(date.year, 4) + "-" + Self.padded(date.month, 2) + "-"
            + Self.padded(date.day, 2) + "T" + Self.padded(second / 3_600, 2) + ":"
            + Self.padded(second / 60 % 60, 2) + ":" + Self.padded(second % 60, 2) + "."
            + Self.padded(microseconds, 6) + "Z"
    }

    /// Parses `2026-11-20T09:15:42Z`, with or without a fraction, in UTC or with an offset. Returns
    /// nil if the text is not such a time.
    package init?(rfc3339 text: String) {
        let text = Array(text.utf8)
        func number(_ range: Range<Int>, _ allowed: ClosedRange<Int64>) -> Int64? {
            guard range.upperBound <= text.count,
                text[range].allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            let value = text[range].reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
            return allowed.contains(value) ? value : nil
        }
        func isThere(_ byte: Unicode.Scalar, _ place: Int) -> Bool {
            text.indices.contains(place) && text[place] == UInt8(ascii: byte)
        }
        guard isThere("-", 4), isThere("-", 7), isThere("T", 10), isThere(":", 13),
            isThere(":", 16), let year = number(0..<4, 1_678...2_261),
            let month = number(5..<7, 1...12), let day = number(8..<10, 1...31),
            let hour = number(11..<13, 0...23), let minute = number(14..<16, 0...59),
            let second = number(17..<19, 0...60)
        else { return nil }
        var place = 19
        var nanoseconds: Int64 = 0
        if isThere(".", place) {
            let digits = text[(place + 1)...].prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty else { return nil }
            for position in 0..<9 {
                let next = position < digits.count ? Int64(digits[place + 1 + position] - 0x30) : 0
                nanoseconds = nanoseconds * 10 + next
            }
            place += 1 + digits.count
        }
        var offset: Int64 = 0
        if isThere("Z", place), text.count == place + 1 {
            offset = 0
        } else {
            guard isThere("+", place) || isThere("-", place), isThere(":", place + 3),
                text.count == place + 6, let hours = number(place + 1..<place + 3, 0...23),
                let minutes = number(place + 4..<place + 6, 0...59)
            else { return nil }
            offset = (hours * 3_600 + minutes * 60) * (isThere("+", place) ? 1 : -1)
        }
        let seconds =
            Self.day(ofCivil: year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
        self.init(seconds: seconds - offset)
        self.nanoseconds += nanoseconds
    }

    /// The day, counted from 1970-01-01, of a date: the inverse of `civilDate(ofDay:)`.
    private static func day(ofCivil year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let shiftedMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The proleptic Gregorian date of a day counted from 1970-01-01. The algorithm uses eras of
    /// 400 years, and years from 1 March, so that a leap day is the last day of its year.
    private static func civilDate(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
