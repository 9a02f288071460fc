import Glibc

/// Formats the date of an answer, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
package enum HTTPDate {
    /// - Parameter unixTime: seconds since 1970; a negative value counts as 0.
    package static func text(unixTime: Int64) -> String {
        var (time, parts) = (time_t(max(0, unixTime)), tm())
        gmtime_r(&time, &parts)
        // The program never leaves the C locale, whose names these are.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
            _ = strftime(text.baseAddress, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
            return text.baseAddress.map { String(cString: $0) } ?? ""
        }
    }
}
