/// A fault that the simulation must find. Each changes what passes between the relay and its world
/// (`Seam`); the relay itself is the product's, and has no switch for any of them.
package enum Mutant: String, Hashable, Sendable, CaseIterable {
    // What goes to the log, and what comes back from it
    case acknowledgeBeforeCommit = "acknowledge-before-commit"
    case markBeforeSend = "mark-before-send"
    case doubleAlertAfterCrash = "double-alert-after-crash"
    case budgetForgottenAtRestart = "budget-forgotten-at-restart"
    case cardAgeForgottenAtRestart = "card-age-forgotten-at-restart"
    case reloadBudgetForgotten = "reload-budget-forgotten-at-restart"
    case windowReopenedByClock = "window-reopened-by-a-clock-step"
    case cutUnderHead = "cut-under-a-head-without-a-row"
    case retiredAfterRestart = "retired-after-its-restart"
    case seqOverAllTenants = "seq-over-all-tenants"
    // What is asked of the relay
    case tenantLeftOut = "tenant-left-out-of-a-key"
    case reloadThroughPause = "reload-through-a-pause"
    case tokenSeenInTheFuture = "token-seen-in-the-future"
    case clockNeverFollowed = "clock-never-followed"
    case userClaimed = "user-claimed-by-a-foreign-device"
    case userKept = "device-keeps-its-first-user"
    case cardsForgottenAtDelete = "cards-forgotten-at-delete"
    case startBudgetForgottenAtDelete = "start-budget-forgotten-at-delete"
    case tokenTakenByStranger = "token-taken-by-a-foreign-device"
    case channelBudgetAnew = "channel-budget-anew"
    case endLeavesTheRest = "end-of-many-leaves-the-rest"
    // The loop
    case lostWakeUp = "lost-wake-up"
    // What a push says
    case timestampOfTheClock = "timestamp-of-the-clock"
    case framesAtTen = "frames-at-priority-10"
    case clipSampledAtItsPeriod = "loop-clip-sampled-at-its-period"
    case channelExpiration = "expiration-where-nothing-is-kept"
    case channelOfAnotherIncarnation = "channel-of-another-incarnation"
    case bundleLostWithChange = "bundle-lost-with-a-change"
    case bundleBegunAnew = "bundle-begun-anew"
    case endShownToStranger = "end-shown-to-a-foreign-token"
    // Whether and when a push goes
    case noTrailingValue = "no-trailing-value"
    case debounceFromLastEvent = "debounce-anchored-to-the-last-event"
    case endHeldBack = "end-held-back"
    case leftCardKept = "card-of-another-user-kept"
    case predecessorKept = "predecessor-kept"
    case channelBeforeEnd = "channel-taken-before-the-end"
    // What goes once more
    case updateAfterEnd = "update-after-end"
    case oldStateResent = "old-state-resent"
    case secondStartBeforeToken = "second-start-before-the-token"
    case echoWithoutEnd = "echo-without-end"
    case bundleFrameByFrame = "bundle-frame-by-frame"
    case endEchoedToSuccessor = "end-echoed-to-a-successor"
    // What the relay is told of a push
    case refusedThoughTaken = "refused-though-taken"
    case retirementWithoutGeneration = "retirement-without-comparing-generations"
    case reloadForgottenWithToken = "reload-forgotten-with-its-token"
    case reloadNeverAtRest = "reload-never-at-rest"
    case reloadToRetiredToken = "reload-to-a-retired-token"
    case channelGoneForgotten = "gone-channel-forgotten"
}
