/// A day of the proleptic Gregorian calendar. (The computation is the usual "days from civil".)
package struct CivilDate: Hashable, Sendable {
    package var year: Int64
    package var month: Int64
    package var day: Int64

    package init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date that is `days` days after 1970-01-01.
    package init(days: Int64) {
        let days = days + 719_468
        let era = Self.floorDivide(days, 146_097)
        let dayOfEra = days - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        month = shifted + (shifted < 10 ? 3 : -9)
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Days since 1970-01-01. The computation begins years in March, so that a leap day is the last
    /// of its year.
    package var days: Int64 {
        let year = month <= 2 ? self.year - 1 : self.year
        let era = Self.floorDivide(year, 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    package var daysInMonth: Int64 {
        switch month {
        case 2: Self.isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// True if February has 29 days.
    package static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    /// The day of the week: 0 is Sunday. (1970-01-01 was a Thursday.)
    package static func weekday(ofDay days: Int64) -> Int64 {
        days + 4 - floorDivide(days + 4, 7) * 7
    }

    /// Division that rounds down, also for negative numbers. `divisor` must be positive.
    package static func floorDivide(_ dividend: Int64, _ divisor: Int64) -> Int64 {
        let quotient = dividend / divisor
        return dividend % divisor < 0 ? quotient - 1 : quotient
    }
}
