import TomboloHTTP

/// The caller's trace: the field `traceparent` of W3C Trace Context, section 3.2.
///
/// An invalid field or several fields count as none, as section 4.3 requires.
struct TraceParent: Hashable, Sendable {
    /// 32 lower-case hex digits, not all zero.
    let traceID: String

    init?(_ head: HTTPRequestHead) {
        let fields = head.fields.values("traceparent")
        guard fields.count == 1, let text = fields.first else { return nil }
        self.init(text)
    }

    /// `VERSION-TRACE_ID-PARENT_ID-FLAGS`; versions above 00 may have more after another dash.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, Self.isHex(parts[0], 2), parts[0] != "ff",
            parts[0] != "00" || parts.count == 4, Self.isHex(parts[1], 32),
            Self.isHex(parts[2], 16), Self.isHex(parts[3], 2),
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        traceID = String(parts[1])
    }

    private static func isHex(_ text: Substring, _ count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
            }
    }
}
