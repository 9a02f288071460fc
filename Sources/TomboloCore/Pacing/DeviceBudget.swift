/// What all activities of a device have spent together. A push needs budget of its activity and of
/// its device (pacing rules 3 and 8). A device's grant is a multiple of an activity's. The
/// checkpoints of the device's destinations store the buckets, so that they survive a restart.
package struct DeviceBudget: Hashable, Sendable {
    package var lastSend = Instant.distantPast
    package var lastLowPrioritySend = Instant.distantPast
    package var bucket = TokenBucket()
    /// The bucket of class `start`: a phone has one budget for starts of all activities.
    package var starts = TokenBucket()
    /// When Apple accepted the first push after the phone's last request; `distantFuture` if it has
    /// accepted none. Not stored, so a restart begins again.
    package var silentSince = Instant.distantFuture
    /// When the last request of the phone, or about it, came. Not stored.
    var spokeAt = Instant.distantPast
    /// True once something has waited for the device: then its activities take turns.
    var isContended = false
    /// Number of the device's destinations that have a reserved token of `starts`.
    var startsHeld: Int32 = 0
    private var keptPlace: Int32 = -1

    package init() {}

    /// The destination whose attempt is being made durable. It is the next one to send.
    var keptFor: CardSlot? {
        get { keptPlace < 0 ? nil : Slot(Int(keptPlace)) }
        set { keptPlace = newValue.map { Int32($0.place) } ?? -1 }
    }

    /// Restores the bucket after a restart. The last push may have been sent until now.
    mutating func recover(_ grant: Grant, fullAt: Instant, now: Instant) {
        lastSend = now
        lastLowPrioritySend = now
        if fullAt > bucket.fullAt { bucket = TokenBucket(fullAt: fullAt, of: grant) }
        bucket.clamp(grant, now: now)
    }

    mutating func recoverStarts(_ grant: Grant, fullAt: Instant, now: Instant) {
        if fullAt > starts.fullAt { starts = TokenBucket(fullAt: fullAt, of: grant) }
        starts.clamp(grant, now: now)
    }
}

extension Grant {
    /// The grant of a device: `factor` times that of an activity.
    package func times(_ factor: Int64) -> Grant {
        guard factor > 0, perHour != nil else { return self }
        return Grant(
            spacing: Span(nanoseconds: spacing.nanoseconds / factor), burst: burst * factor,
            perHour: perHour.map { $0 * Double(factor) }, reserve: reserve * factor,
            lowPrioritySpacing: Span(nanoseconds: lowPrioritySpacing.nanoseconds / factor))
    }
}
