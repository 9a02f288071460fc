import TomboloJSON

extension WallInstant {
    /// Formats the time as RFC 3339 in UTC with six decimal places: `2026-11-20T09:15:42.041000Z`.
    ///
    /// Microseconds keep the times of frames distinct.
    package var rfc3339: String {
        let microseconds = (nanoseconds - seconds * 1_000_000_000) / 1_000
        return RFC3339.text(seconds: seconds, fraction: microseconds, digits: 6)
    }

    /// Parses `2026-11-20T09:15:42Z`, with or without a fraction, in UTC or with an offset. Returns
    /// nil if the text is not such a time.
    package init?(rfc3339 text: String) {
        guard let found = RFC3339.parts(text), RFC3339.years.contains(found.year) else {
            return nil
        }
        self.init(seconds: found.seconds)
        nanoseconds += found.nanoseconds
    }
}
