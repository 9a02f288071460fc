/// What all activities of one device have spent together: grants nest, and the tightest wins
/// (pacing rules 3 and 8).
///
/// A device may be sent so many times what one of its activities may. The buckets of its
/// destinations' marks carry it over a restart.
package struct DeviceBudget: Hashable, Sendable {
    package var lastSend = Instant.distantPast
    package var lastLowPrioritySend = Instant.distantPast
    package var bucket = TokenBucket()
    /// Of class `start`: the phone has a budget of its own for push-to-start, whatever it starts.
    package var starts = TokenBucket()
    /// When Apple took the first push since the phone's last word; `distantFuture`:
    /// none. It begins anew with the process.
    package var silentSince = Instant.distantFuture
    /// Somebody has had to wait for the device: from then on its activities take turns.
    var isContended = false
    /// Destinations of the device that hold a token of `starts`.
    var startsHeld: Int32 = 0
    private var keptPlace: Int32 = -1

    package init() {}

    /// Whose attempt is being made durable: it is its turn until that attempt has gone.
    var keptFor: CardSlot? {
        get { keptPlace < 0 ? nil : Slot(Int(keptPlace)) }
        set { keptPlace = newValue.map { Int32($0.place) } ?? -1 }
    }

    /// After a restart it counts as having just sent.
    mutating func recover(_ grant: Grant, fullAt: Instant, now: Instant) {
        lastSend = now
        lastLowPrioritySend = now
        if fullAt > bucket.fullAt { bucket = TokenBucket(fullAt: fullAt, of: grant) }
        bucket.clamp(grant, now: now)
    }

    /// The same of the budget for starts.
    mutating func recoverStarts(_ grant: Grant, fullAt: Instant, now: Instant) {
        if fullAt > starts.fullAt { starts = TokenBucket(fullAt: fullAt, of: grant) }
        starts.clamp(grant, now: now)
    }
}

extension Grant {
    /// So many activities' worth, for a device.
    package func times(_ factor: Int64) -> Grant {
        guard factor > 0, perHour != nil else { return self }
        return Grant(
            spacing: Span(nanoseconds: spacing.nanoseconds / factor), burst: burst * factor,
            perHour: perHour.map { $0 * Double(factor) }, reserve: reserve * factor,
            lowPrioritySpacing: Span(nanoseconds: lowPrioritySpacing.nanoseconds / factor))
    }
}
