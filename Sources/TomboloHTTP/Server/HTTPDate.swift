/// Formats the date of an answer, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
package enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Parameter unixTime: seconds since 1970; a negative value counts as 0.
    package static func text(unixTime: Int64) -> String {
        let time = max(0, unixTime)
        let days = time / 86_400
        let (year, month, day) = civil(days)
        let clock = [time / 3_600 % 24, time / 60 % 60, time % 60].map(padded)
        return "\(weekdays[Int(days % 7)]), \(padded(day)) \(months[month]) \(year) "
            + "\(clock.joined(separator: ":")) GMT"
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    /// Returns the Gregorian date. The algorithm counts years from March, so that a leap day is the
    /// last day of its year.
    ///
    /// - Parameter days: days since 1970, not negative.
    /// - Returns: the month from 0, the day from 1.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int, day: Int64) {
        // Days since 1 March of the year 0. 400 years have 146,097 days.
        let since = days + 719_468
        let era = since / 146_097
        let dayOfEra = since % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = Int((fromMarch + 2) % 12)
        let year = yearOfEra + era * 400 + (month < 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * fromMarch + 2) / 5 + 1)
    }
}
