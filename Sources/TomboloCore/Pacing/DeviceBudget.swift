/// What all activities of one device have spent together. Grants nest, and the tightest decides
/// (pacing rules 3 and 8).
///
/// A device's grant is a multiple of what one of its activities may be sent. The buckets survive a
/// restart in the checkpoints of the device's destinations.
package struct DeviceBudget: Hashable, Sendable {
    package var lastSend = Instant.distantPast
    package var lastLowPrioritySend = Instant.distantPast
    package var bucket = TokenBucket()
    /// The bucket of class `start`: the phone has one budget for push-to-start of any activity.
    package var starts = TokenBucket()
    /// When Apple took the first push since the phone was last heard of; `distantFuture` if there
    /// is none. It begins anew with the process.
    package var silentSince = Instant.distantFuture
    /// Something has had to wait for the device: from now on its activities take turns.
    var isContended = false
    /// Destinations of the device that hold a token of `starts`.
    var startsHeld: Int32 = 0
    private var keptPlace: Int32 = -1

    package init() {}

    /// The destination whose attempt is being made durable: it has the turn until it has sent.
    var keptFor: CardSlot? {
        get { keptPlace < 0 ? nil : Slot(Int(keptPlace)) }
        set { keptPlace = newValue.map { Int32($0.place) } ?? -1 }
    }

    /// After a restart: the device counts as having just been sent to.
    mutating func recover(_ grant: Grant, fullAt: Instant, now: Instant) {
        lastSend = now
        lastLowPrioritySend = now
        if fullAt > bucket.fullAt { bucket = TokenBucket(fullAt: fullAt, of: grant) }
        bucket.clamp(grant, now: now)
    }

    /// The same for the budget for starts.
    mutating func recoverStarts(_ grant: Grant, fullAt: Instant, now: Instant) {
        if fullAt > starts.fullAt { starts = TokenBucket(fullAt: fullAt, of: grant) }
        starts.clamp(grant, now: now)
    }
}

extension Grant {
    /// The grant of a device, as a multiple of an activity's.
    package func times(_ factor: Int64) -> Grant {
        guard factor > 0, perHour != nil else { return self }
        return Grant(
            spacing: Span(nanoseconds: spacing.nanoseconds / factor), burst: burst * factor,
            perHour: perHour.map { $0 * Double(factor) }, reserve: reserve * factor,
            lowPrioritySpacing: Span(nanoseconds: lowPrioritySpacing.nanoseconds / factor))
    }
}
