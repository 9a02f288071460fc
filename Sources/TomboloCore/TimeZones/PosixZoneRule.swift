import TomboloJSON

/// The rule for all years after the last change that a time zone's file lists: the footer by RFC
/// 8536, section 3.3, in the form of POSIX's `TZ`, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
struct PosixZoneRule: Hashable, Sendable {
    /// A time in each year, by the local clocks just before it.
    struct Moment: Hashable, Sendable {
        enum Day: Hashable, Sendable {
            /// `Jn`, 1 to 365: a day of the year that never counts 29 February.
            case ofCommonYear(Int64)
            /// `n`, 0 to 365: a day of the year that counts 29 February.
            case ofYear(Int64)
            /// `Mm.w.d`: week 5 is the last one, weekday 0 is Sunday.
            case ofMonth(month: Int64, week: Int64, weekday: Int64)
        }

        var day: Day
        /// Seconds after midnight. RFC 8536 allows from -167 to 167 hours.
        var time: Int64

        /// This time in one year, as local clocks show it, in seconds since 1970.
        func localSeconds(in year: Int64) -> Int64 {
            let first = CivilDate(year: year, month: 1, day: 1).days
            let days: Int64
            switch day {
            case .ofCommonYear(let count):
                days = first + count - 1 + (CivilDate.isLeap(year) && count >= 60 ? 1 : 0)
            case .ofYear(let count): days = first + count
            case .ofMonth(let month, let week, let weekday):
                let begin = CivilDate(year: year, month: month, day: 1)
                let lead = weekday - CivilDate.weekday(ofDay: begin.days)
                var day = (lead < 0 ? lead + 7 : lead) + (week - 1) * 7
                if day >= begin.daysInMonth { day -= 7 }
                days = begin.days + day
            }
            return days * 86_400 + time
        }
    }

    /// Offset of standard time, in seconds east of UTC.
    var standard: Int64
    /// nil if the zone has no daylight-saving time.
    var daylight: Daylight?

    struct Daylight: Hashable, Sendable {
        var offset: Int64
        var from: Moment
        var until: Moment
    }

    /// The changes of the offset in these years, ascending by time.
    func changes(inYears years: ClosedRange<Int64>) -> [TimeZoneRules.Change] {
        guard let daylight else { return [] }
        var all: [TimeZoneRules.Change] = []
        for year in years {
            all.append(
                .init(
                    at: daylight.until.localSeconds(in: year) - daylight.offset, offset: standard))
            all.append(
                .init(
                    at: daylight.from.localSeconds(in: year) - standard, offset: daylight.offset))
        }
        // If an end and a begin are at the same instant, the end comes first: daylight-saving time
        // then lasts all year.
        return all.sorted {
            $0.at != $1.at ? $0.at < $1.at : $0.offset == standard && $1.offset != standard
        }
    }

    /// The offset at a Unix time, in seconds east of UTC.
    func offset(at seconds: Int64) -> Int64 {
        guard let daylight else { return standard }
        let year = CivilDate(days: floorDivide(seconds + standard, 86_400)).year
        let begin = daylight.from.localSeconds(in: year) - standard
        let end = daylight.until.localSeconds(in: year) - daylight.offset
        // In the southern hemisphere, daylight-saving time begins in one year and ends in the next.
        let isSummer =
            begin < end
            ? begin <= seconds && seconds < end : !(end <= seconds && seconds < begin)
        return isSummer ? daylight.offset : standard
    }
}

extension PosixZoneRule {
    /// Reads the text between the line feeds of the footer. Returns nil if it is not such a rule.
    init?(_ text: [UInt8]) {
        var reader = Reader(bytes: text)
        guard reader.skipName(), let offset = reader.time(hoursMax: 24) else { return nil }
        // In POSIX, offsets to the west are positive.
        standard = -offset
        guard !reader.isAtEnd else { return }
        guard reader.skipName() else { return nil }
        var saving = standard + 3_600
        if !reader.isNext(",") {
            guard let offset = reader.time(hoursMax: 24) else { return nil }
            saving = -offset
        }
        guard reader.skip(","), let from = reader.moment(), reader.skip(","),
            let until = reader.moment(), reader.isAtEnd
        else { return nil }
        daylight = Daylight(offset: saving, from: from, until: until)
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == bytes.count }

        func isNext(_ character: Character) -> Bool {
            position < bytes.count && bytes[position] == character.asciiValue
        }

        mutating func skip(_ character: Character) -> Bool {
            guard isNext(character) else { return false }
            position += 1
            return true
        }

        /// Skips a name: three letters or more, or any text between `<` and `>`.
        mutating func skipName() -> Bool {
            if skip("<") {
                while position < bytes.count, !isNext(">") { position += 1 }
                return skip(">")
            }
            let start = position
            while position < bytes.count, isLetter(bytes[position]) { position += 1 }
            return position - start >= 3
        }

        private func isLetter(_ byte: UInt8) -> Bool {
            (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
        }

        /// Reads a number of at most three digits.
        mutating func number(_ range: ClosedRange<Int64>) -> Int64? {
            var value: Int64 = 0
            let start = position
            while position < bytes.count, position - start < 3,
                (0x30...0x39).contains(bytes[position])
            {
                value = value * 10 + Int64(bytes[position] - 0x30)
                position += 1
            }
            return position > start && range.contains(value) ? value : nil
        }

        /// Reads `[+-]hh[:mm[:ss]]`, in seconds.
        mutating func time(hoursMax: Int64) -> Int64? {
            let sign: Int64 = skip("-") ? -1 : 1
            if sign == 1 { _ = skip("+") }
            guard let hours = number(0...hoursMax) else { return nil }
            var seconds = hours * 3_600
            guard skip(":") else { return sign * seconds }
            guard let minutes = number(0...59) else { return nil }
            seconds += minutes * 60
            guard skip(":") else { return sign * seconds }
            guard let rest = number(0...59) else { return nil }
            return sign * (seconds + rest)
        }

        /// Reads a day with a time; without a time, 02:00 applies.
        mutating func moment() -> Moment? {
            let day: Moment.Day
            if skip("J") {
                guard let count = number(1...365) else { return nil }
                day = .ofCommonYear(count)
            } else if skip("M") {
                guard let month = number(1...12), skip("."), let week = number(1...5), skip("."),
                    let weekday = number(0...6)
                else { return nil }
                day = .ofMonth(month: month, week: week, weekday: weekday)
            } else {
                guard let count = number(0...365) else { return nil }
                day = .ofYear(count)
            }
            guard skip("/") else { return Moment(day: day, time: 7_200) }
            return time(hoursMax: 167).map { Moment(day: day, time: $0) }
        }
    }
}
