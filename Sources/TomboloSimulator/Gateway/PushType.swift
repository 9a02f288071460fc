/// The values of `apns-push-type`, from Apple's page *Sending notification requests to APNs*.
package enum PushType: String, CaseIterable, Hashable, Sendable {
    case alert
    case background
    case complication
    case controls
    case fileProvider = "fileprovider"
    case liveActivity = "liveactivity"
    case location
    case mdm
    case pushToTalk = "pushtotalk"
    case voip
    case widgets

    /// Suffix after the bundle id in `apns-topic`; nil if the topic is not a bundle id (`mdm`).
    package var topicSuffix: String? {
        switch self {
        case .alert, .background: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileProvider: ".pushkit.fileprovider"
        case .liveActivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .mdm: nil
        case .pushToTalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }

    /// True if this type allows the value of `apns-priority`. A missing header counts as 10.
    package func allows(priority: Int) -> Bool {
        switch self {
        case .background: priority == 5
        case .liveActivity: priority == 5 || priority == 10
        default: priority == 1 || priority == 5 || priority == 10
        }
    }

    /// Maximum size of the payload in bytes: 4,096, or 5,120 for VoIP.
    package var payloadBytesMax: Int { self == .voip ? 5_120 : 4_096 }
}

/// An `apns-topic`: an app's bundle id and a suffix.
package struct PushTopic: Hashable, Sendable {
    package var bundleID: String
    package var suffix: String

    package init(bundleID: String, suffix: String) {
        self.bundleID = bundleID
        self.suffix = suffix
    }

    /// The topic of an app's Live Activities.
    package static func liveActivity(_ bundleID: String) -> PushTopic {
        PushTopic(bundleID: bundleID, suffix: ".push-type.liveactivity")
    }
}
