/// Why a change waits. Each wait has an end, and answers show its reason.
package enum WaitReason: String, Named, Sendable, CaseIterable {
    case spacing
    case lowPrioritySpacing = "low_priority_spacing"
    case bucket
    case inFlight = "in_flight"
    case streamLimit = "stream_limit"
    case reserving
    case startToken = "no_start_token"
    case updateToken = "no_update_token"
    case unknownStart = "start_unknown"
    case tokenBackOff = "token_back_off"
    case upstreamClosed = "upstream_closed"
    case timestampAhead = "timestamp_ahead"
    case paused
    case deviceSpacing = "device_spacing"
    case deviceLowPrioritySpacing = "device_low_priority_spacing"
    case deviceBucket = "device_bucket"
    case startBudget = "start_budget"
    case stranded
    case channel = "no_channel"
    case appleError = "apple_error"
    case noAnswer = "no_answer"
    case tokenDoubted = "token_doubted"
    case nextSecond = "next_second"

    /// True if it is the device's own budget that the change waits for.
    var isOfDevice: Bool {
        switch self {
        case .deviceSpacing, .deviceLowPrioritySpacing, .deviceBucket: true
        default: false
        }
    }
}
