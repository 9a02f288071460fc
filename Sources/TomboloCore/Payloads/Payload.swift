package import TomboloJSON

/// The JSON body of a Live Activity push (Apple, "Starting and updating Live Activities with
/// ActivityKit push notifications"). Times are whole Unix seconds; `/` is not escaped; content
/// state and attributes are the producer's bytes.
package enum Payload {
    /// Apple's limit for a push to a device, of the encoded body.
    package static let bytesMax = 4_096
    /// The same for a broadcast; of it ActivityKit takes `bytesMax` as state.
    package static let broadcastBytesMax = 5_120

    /// The members of `aps`.
    package struct Content: Sendable {
        package var timestamp: Int64
        package var event: Push.Event
        package var state: JSON
        package var alert: JSON?
        package var staleDate: Int64?
        package var dismissalDate: Int64?
        package var relevance: Double?
        /// Only of a start.
        package var start: StartContent?

        package init(timestamp: Int64, event: Push.Event, state: JSON) {
            self.timestamp = timestamp
            self.event = event
            self.state = state
        }
    }

    /// What a start has besides.
    package struct StartContent: Sendable {
        package var type: String
        package var attributes: JSON
        /// iOS 18 and later: the started activity asks for an update token of its own.
        package var asksForToken: Bool
        /// The same systems: it listens on this channel instead.
        package var channel: String?
    }

    package static func encode(_ content: Content) -> [UInt8] {
        var writer = JSONWriter(capacity: content.state.bytes.count + 192)
        writer.fixed(#"{"aps":{"timestamp":"#)
        writer.integer(content.timestamp)
        switch content.event {
        case .start: writer.fixed(#","event":"start","content-state":"#)
        case .update: writer.fixed(#","event":"update","content-state":"#)
        case .end: writer.fixed(#","event":"end","content-state":"#)
        }
        writer.raw(content.state)
        if let start = content.start {
            writer.member("attributes-type", start.type)
            writer.member("attributes", start.attributes)
            if let channel = start.channel {
                writer.member("input-push-channel", channel)
            } else if start.asksForToken {
                writer.member("input-push-token", Int64(1))
            }
        }
        if let alert = content.alert { writer.member("alert", alert) }
        if let date = content.staleDate { writer.member("stale-date", date) }
        if let date = content.dismissalDate { writer.member("dismissal-date", date) }
        if let relevance = content.relevance { writer.member("relevance-score", relevance) }
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }
}
