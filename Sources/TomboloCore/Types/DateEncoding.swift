package import TomboloJSON

/// How an app decodes a `Date`. By default ActivityKit expects seconds since 2001 (Apple, "Starting
/// and updating Live Activities with ActivityKit push notifications").
package enum DateEncoding: String, Hashable, Sendable, CaseIterable {
    case swiftReference = "swift-reference"
    case unix
    case iso8601

    /// Seconds from 1970-01-01 to 2001-01-01, both at 00:00 UTC.
    static let referenceOffset: Int64 = 978_307_200

    /// The state as the app decodes it: values that the schema declares as times are in this
    /// encoding. All other bytes are unchanged.
    func encode(_ state: JSON, by schema: StateSchema) -> JSON {
        guard self != .iso8601, schema.hasDates else { return state }
        var writer = JSONWriter(capacity: state.bytes.count)
        write(state.document.root, schema, into: &writer)
        return writer.json
    }

    private func write(_ value: JSONView, _ schema: StateSchema?, into writer: inout JSONWriter) {
        guard let schema, schema.hasDates else { return writer.raw(value.raw) }
        switch value.kind {
        case .object:
            writer.object { writer in
                for (name, member) in value.members {
                    writer.named(name) { write(member, schema[name], into: &$0) }
                }
            }
        case .array:
            writer.array(of: value.elements) { write($1, schema.items.first, into: &$0) }
        case .string where schema.isDate:
            guard let instant = value.string.flatMap(Instant.init(rfc3339:)) else {
                return writer.raw(value.raw)
            }
            write(instant, into: &writer)
        case .string, .number, .bool, .null: writer.raw(value.raw)
        }
    }

    /// The date of a value in a phone's state; nil if the value is not a date in this encoding.
    package func date(_ value: JSONView) -> Instant? {
        if self == .iso8601 { return value.string.flatMap(Instant.init(rfc3339:)) }
        guard let seconds = value.double, seconds.magnitude < 8e9 else { return nil }
        let offset = self == .swiftReference ? Double(Self.referenceOffset) : 0
        return Instant(nanoseconds: Int64((seconds + offset) * 1e9))
    }

    private func write(_ instant: Instant, into writer: inout JSONWriter) {
        let seconds = instant.seconds - (self == .swiftReference ? Self.referenceOffset : 0)
        let rest = instant.nanoseconds - instant.seconds * 1_000_000_000
        if rest == 0 {
            writer.integer(seconds)
        } else {
            writer.double(Double(seconds) + Double(rest) / 1e9)
        }
    }
}
