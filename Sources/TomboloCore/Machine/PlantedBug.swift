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
        case bundleBegunAnew
    }

    extension Core {
        /// Whether this bug is planted.
        package func isPlanted(_ bug: PlantedBug) -> Bool { configuration.planted == bug }

        /// Where no reason is left to send the newest state, or one that moves with every event.
        mutating func plantedWait(
            _ slot: Int, _ event: Push.Event, _ wish: Wish, _ waits: Bool, now: Instant
        ) -> Instant? {
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
    }
#endif
