import TomboloJSON

/// The state of one card on the phone: what the app has received, and what is drawn.
public struct CardWord: Hashable, Sendable {
    /// ActivityKit's `ActivityState`.
    public enum Phase: String, CaseIterable, Hashable, Sendable {
        case pending, active, stale, ended, dismissed

        /// True if the card does not change any more.
        public var isOver: Bool { self == .ended || self == .dismissed }
    }

    public var phase: Phase
    /// The version that the producer wrote into the state; nil if it writes none there.
    public var receivedVersion: Int64?
    /// The content state as one JSON object; nil if the version is reported instead.
    public var receivedState: [UInt8]?
    public var drawnVersion: Int64?
    public var drawnState: [UInt8]?
    /// When the state last changed, in RFC 3339.
    public var shownAt: String?
    /// Number of changes of the state, including the start.
    public var shownCount: Int?
    public var firstShownAt: String?
    /// When the app itself last updated the card.
    public var lastLocalUpdate: String?

    /// A state with the phase only. Set the other members afterwards.
    public init(_ phase: Phase) { self.phase = phase }

    /// The body of `PUT /v1/devices/ID/activities/NAME`.
    ///
    /// - Parameter by: who dismissed the card, `user` or `system`; nil if that is unknown.
    func body(by: String? = nil) -> [UInt8] {
        JSONWriter.objectBytes { body in
            body.member("phase", phase.rawValue)
            if let by { body.member("by", by) }
            if let receivedVersion { body.member("received_version", receivedVersion) }
            if let receivedState {
                body.rawMember("received_state", receivedState)
            }
            if let drawnVersion { body.member("drawn_version", drawnVersion) }
            if let drawnState {
                body.rawMember("drawn_state", drawnState)
            }
            if let shownAt { body.member("shown_at", shownAt) }
            if let shownCount { body.member("shown_count", shownCount) }
            if let firstShownAt { body.member("first_shown_at", firstShownAt) }
            if let lastLocalUpdate { body.member("last_local_update", lastLocalUpdate) }
        }
    }
}
