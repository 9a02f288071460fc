#if PLANTED_BUGS
    /// Bugs for the simulation to find: in a build that is made for it, and in no other.
    package enum PlantedBug: String, Hashable, Sendable, CaseIterable {
        case noTrailingValue, debounceFromLastEvent, retirementWithoutGeneration
        case secondStartBeforeToken, clipSampledAtItsPeriod, windowReopenedByClock
        case echoWithoutEnd, channelOfAnotherIncarnation
        case predecessorKept
        case reloadForgottenWithToken, reloadNeverAtRest, reloadBudgetForgotten
        case reloadThroughPause, reloadToRetiredToken
        case endEchoedToSuccessor, channelBeforeEnd, channelBudgetAnew, channelGoneForgotten
        case channelExpiration, bundleLostWithChange, bundleFrameByFrame
        case bundleBegunAnew, endHeldBack, timestampOfTheClock, framesAtTen
    }

    extension Core {
        /// Whether this bug is planted.
        package func isPlanted(_ bug: PlantedBug) -> Bool { configuration.planted == bug }

        /// Where no reason is left to send the newest state, or one that moves with every event.
        mutating func plantedWait(
            _ slot: Int, _ event: Push.Event, _ wish: Wish, _ waits: Bool, now: Instant
        ) -> Instant? {
            if isPlanted(.endHeldBack), event == .end, let destination = destinations[slot] {
                let quiet = destination.pacing.lastSend + .minutes(1)
                return now < quiet ? quiet : nil
            }
            guard event == .update, wish != .frame, let projection = projection(slot) else {
                return nil
            }
            if isPlanted(.noTrailingValue), waits {
                destinations[slot]?.acknowledged = projection.version
                return now + .seconds(1)
            }
            let quiet = projection.changedAt + .seconds(20)
            if isPlanted(.debounceFromLastEvent), wall(now) < quiet {
                return now + (quiet - wall(now))
            }
            return nil
        }

        /// What a push goes out with, where that is not what was decided.
        func planted(
            _ priority: UInt8, _ timestamp: Int64, _ wish: Wish, now: Instant
        ) -> (UInt8, Int64) {
            (
                isPlanted(.framesAtTen) && wish == .frame ? 10 : priority,
                isPlanted(.timestampOfTheClock) ? wall(now).seconds : timestamp
            )
        }
    }
#endif
