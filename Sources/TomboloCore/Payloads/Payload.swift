package import TomboloJSON

/// The JSON body of a Live Activity push (Apple, "Starting and updating Live Activities with
/// ActivityKit push notifications"). Times are in whole Unix seconds, and `/` is not escaped.
/// Content state and attributes are inserted as the given bytes.
package enum Payload {
    /// Apple's maximum for the body of a push to a device, in bytes.
    package static let bytesMax = 4_096
    /// Apple's maximum for a broadcast. Its state may still have only `bytesMax` bytes.
    package static let broadcastBytesMax = 5_120

    /// The members of `aps`.
    package struct Content: Sendable {
        package var timestamp: Int64
        package var event: Push.Event
        package var state: JSON
        /// Only for an end: true if the phone must not get the new state. The card then ends with
        /// the state that it shows.
        package var omitsState = false
        package var alert: JSON?
        package var staleDate: Int64?
        package var dismissalDate: Int64?
        package var relevance: Double?
        /// Only set for a start.
        package var start: StartContent?

        package init(timestamp: Int64, event: Push.Event, state: JSON) {
            self.timestamp = timestamp
            self.event = event
            self.state = state
        }
    }

    /// The additional members of a start.
    package struct StartContent: Sendable {
        package var type: String
        package var attributes: JSON
        /// True for iOS 18 and later: the new activity asks for an update token.
        package var asksForToken: Bool
        /// For iOS 18 and later: the channel on which the new activity listens instead.
        package var channel: String?
    }

    /// The body of a reload, which only says that there is new content (Apple, "Updating widgets
    /// with WidgetKit push notifications", "Pushing background updates to your App").
    package static func reload(_ surface: Push.Surface) -> [UInt8] {
        let text =
            surface == .background
            ? #"{"aps":{"content-available":1}}"# : #"{"aps":{"content-changed":true}}"#
        return Array(text.utf8)
    }

    package static func encode(_ content: Content) -> [UInt8] {
        var writer = JSONWriter(capacity: content.state.bytes.count + 192)
        writer.fixed(#"{"aps":{"timestamp":"#)
        writer.integer(content.timestamp)
        switch content.event {
        case .start: writer.fixed(#","event":"start","content-state":"#)
        case .update: writer.fixed(#","event":"update","content-state":"#)
        case .end where content.omitsState: writer.fixed(#","event":"#)
        case .end: writer.fixed(#","event":"end","content-state":"#)
        }
        if content.omitsState { writer.string("end") } else { writer.raw(content.state) }
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
