package import TomboloCore

/// The `apns-push-type` of a push and its topic suffix.
///
/// Source: Apple, *Sending notification requests to APNs*. Tombolo needs only these types, for Live
/// Activities, widgets, controls and apps.
package enum APNsPushType: String, Hashable, Sendable, CaseIterable {
    case liveActivity = "liveactivity"
    case widgets
    case controls
    case background

    /// Suffix of the bundle id in `apns-topic`.
    package var topicSuffix: String {
        switch self {
        case .liveActivity: ".push-type.liveactivity"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        case .background: ""
        }
    }

    /// The type of pushes to a surface.
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
