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
    package static func fault(ofRFC3339 text: String?) -> String {
        guard let found = text.flatMap(RFC3339.parts), !RFC3339.years.contains(found.year) else {
            let hint = text.flatMap(hint).map { ": " + $0 } ?? ""
            return "must be a time as in RFC 3339, such as \"2026-11-20T09:03:00Z\"" + hint
        }
        return "is out of range: the year must be from \(RFC3339.years.lowerBound) "
            + "to \(RFC3339.years.upperBound)"
    }

    /// What makes a time of a text that is nearly one; else nil.
    private static func hint(_ text: String) -> String? {
        guard text.utf8.count < 40 else { return nil }
        let isTime = { (text: String) in RFC3339.parts(text) != nil }
        if isTime(text.replacing(" ", with: "+")) {
            return "the \"+\" of the zone became a space; write %2B for it in a URL, or use Z"
        }
        if isTime(String(text.dropLast(2)) + ":" + text.suffix(2)) {
            return "write the zone with a colon, +00:00"
        }
        if isTime(text + "Z") { return "the zone is missing; add Z for UTC" }
        if isTime(text + "T00:00:00Z") { return "a date alone is no time; write \(text)T00:00:00Z" }
        if Span(text: text.hasPrefix("-") ? String(text.dropFirst()) : text) != nil {
            return "it is the time of then, and not how long ago that was"
        }
        return nil
    }

    /// Such as `2026-11-20T09:03:00.123Z`, rounded down to milliseconds.
    package var rfc3339: String {
        RFC3339.text(seconds: seconds, fraction: milliseconds - seconds * 1_000, digits: 3)
    }

    /// Such as `2026-11-20T09:03:00Z`, rounded down to seconds, because Swift's decoding strategy
    /// `iso8601` accepts no fraction.
    package var rfc3339InSeconds: String { RFC3339.text(seconds: seconds) }
}
