extension WallInstant {
    /// RFC 3339 in UTC with six decimal places: `2026-11-20T09:15:42.041000Z`.
    ///
    /// Microseconds, because the instants of two frames a millisecond apart must stay distinct.
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

    /// The proleptic Gregorian date of a day counted from 1970-01-01, by eras of 400 years that
    /// begin on the first of March (so that the leap day is a year's last).
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
