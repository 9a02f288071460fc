import TomboloJSON

extension Instant {
    /// Reads `2026-11-20T09:03:00Z`, with or without a fraction, also with an offset instead of
    /// `Z`. Returns nil for other texts, for days that do not exist, and for years outside 1678 to
    /// 2261. A leap second, which can only be the last second of a UTC day, counts as the next
    /// second.
    package init?(rfc3339 text: String) {
        guard let found = RFC3339.parts(text), RFC3339.years.contains(found.year) else {
            return nil
        }
        self.init(nanoseconds: found.seconds * 1_000_000_000 + found.nanoseconds)
    }

    /// The same for the limits of a search: a year below 1678 counts as the beginning of 1678, and
    /// one above 2261 as the end of 2261.
    package init?(nearest text: String) {
        guard let found = RFC3339.parts(text) else { return nil }
        if RFC3339.years.contains(found.year) {
            self.init(nanoseconds: found.seconds * 1_000_000_000 + found.nanoseconds)
        } else {
            let year = found.year < RFC3339.years.lowerBound ? RFC3339.years.lowerBound : 2262
            self.init(seconds: CivilDate(year: year, month: 1, day: 1).days * 86_400)
        }
    }

    /// Why a text is not accepted as a time, and what to write instead.
    static func fault(ofRFC3339 text: String?) -> String {
        guard let found = text.flatMap(RFC3339.parts), !RFC3339.years.contains(found.year) else {
            return "must be a time as in RFC 3339, such as \"2026-11-20T09:03:00Z\""
        }
        return "is out of range: the year must be from \(RFC3339.years.lowerBound) "
            + "to \(RFC3339.years.upperBound)"
    }

    /// Such as `2026-11-20T09:03:00.123Z`, rounded down to milliseconds.
    package var rfc3339: String {
        RFC3339.text(seconds: seconds, fraction: milliseconds - seconds * 1_000, digits: 3)
    }

    /// Such as `2026-11-20T09:03:00Z`, rounded down to seconds, because Swift's decoding strategy
    /// `iso8601` accepts no fraction.
    package var rfc3339InSeconds: String { RFC3339.text(seconds: seconds) }
}
