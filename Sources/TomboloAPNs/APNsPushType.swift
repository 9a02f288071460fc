package import TomboloCore

/// What a push is to the system: `apns-push-type`, and what follows from it for the topic.
///
/// Source: Apple, *Sending notification requests to APNs*. Tombolo sends these; of the first page's
/// eleven types the others are no business of Live Activities.
package enum APNsPushType: String, Hashable, Sendable, CaseIterable {
    case liveActivity = "liveactivity"
    case widgets
    case controls
    case background

    /// What is appended to the bundle id in `apns-topic`.
    package var topicSuffix: String {
        switch self {
        case .liveActivity: ".push-type.liveactivity"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        case .background: ""
        }
    }

    /// The type of what goes to a surface.
    package init(_ surface: Push.Surface) {
        self =
            switch surface {
            case .activity, .channel: .liveActivity
            case .widgets: .widgets
            case .control: .controls
            case .background: .background
            }
    }
}
