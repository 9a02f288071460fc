/// Why a change waits. Each wait has an end, and answers show its reason.
package enum WaitReason: UInt8, Hashable, Sendable, CaseIterable {
    case spacing, lowPrioritySpacing, bucket, inFlight, streamLimit, reserving, startToken,
        updateToken
    case unknownStart, tokenBackOff, upstreamClosed, timestampAhead, paused
    case deviceSpacing, deviceLowPrioritySpacing, deviceBucket
    case startBudget, stranded, channel
    case appleUnwell, noAnswer, oldWord, nextSecond

    /// True if it is the device's own budget that the change waits for.
    var isOfDevice: Bool {
        switch self {
        case .deviceSpacing, .deviceLowPrioritySpacing, .deviceBucket: true
        default: false
        }
    }

    /// Finds the reason with this `name`. Returns nil for other names.
    package init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    package var name: String {
        switch self {
        case .spacing: "spacing"
        case .lowPrioritySpacing: "low_priority_spacing"
        case .bucket: "bucket"
        case .inFlight: "in_flight"
        case .streamLimit: "stream_limit"
        case .reserving: "reserving"
        case .startToken: "no_start_token"
        case .updateToken: "no_update_token"
        case .unknownStart: "start_unknown"
        case .tokenBackOff: "token_back_off"
        case .upstreamClosed: "upstream_closed"
        case .timestampAhead: "timestamp_ahead"
        case .paused: "paused"
        case .deviceSpacing: "device_spacing"
        case .deviceLowPrioritySpacing: "device_low_priority_spacing"
        case .deviceBucket: "device_bucket"
        case .startBudget: "start_budget"
        case .stranded: "stranded"
        case .channel: "no_channel"
        case .appleUnwell: "apple_error"
        case .noAnswer: "no_answer"
        case .oldWord: "token_doubted"
        case .nextSecond: "next_second"
        }
    }
}
