extension Mutant {
    /// The promises that it breaks: the checkers that have to see it. What else goes wrong because
    /// of it does not count, so that no checker is proved by another one's find.
    private var promises: Set<Promise> {
        switch self {
        case .acknowledgeBeforeCommit: [.durable, .once]
        case .checkpointBeforeSend, .lostWakeUp, .noTrailingValue, .debounceFromLastEvent,
            .retirementWithoutGeneration, .bundleLostWithChange:
            [.converges, .noWait]
        case .doubleAlertAfterCrash: [.alertOnce]
        case .budgetForgottenAtRestart, .reloadBudgetForgotten, .windowReopenedByClock,
            .channelBudgetAnew:
            [.budget, .spacing]
        case .cardAgeForgottenAtRestart: [.lapsed, .renewal]
        case .startWaitForgotten: [.startInTime]
        case .tenantLeftOut: [.tenants]
        case .seqOverAllTenants: [.ownCount]
        case .deliveryForgotten: [.ledger]
        case .outcomeForgotten: [.outcomes]
        case .entriesKept: [.widgets]
        case .doorOfAnother, .actionFromArrival: [.doors]
        case .reloadThroughPause: [.paused]
        case .timestampOfTheClock, .takenForgotten, .timestampsMovedByKills: [.timestamp]
        case .framesAtTen: [.framePriority]
        case .endsAtFive: [.endPriority]
        case .clipSampledAtItsPeriod: [.frames]
        case .channelOfAnotherIncarnation: [.channels]
        case .bundleBegunAnew, .bundleFrameByFrame: [.bundles]
        case .endHeldBack: [.noWait, .ended]
        case .predecessorKept: [.renewal]
        case .updateAfterEnd: [.endIsLast]
        case .oldStateResent, .stateOfAnotherLife: [.order]
        case .secondStartBeforeToken, .cardNamedTwice: [.oneStart]
        case .echoWithoutEnd: [.echo]
        case .refusedThoughTaken: [.wire]
        case .reloadForgottenWithToken, .reloadOwedForgotten: [.reloads]
        case .reloadNeverAtRest: [.reloadsAsked]
        case .reloadToRetiredToken: [.retired]
        case .userClaimed, .endShownToStranger, .userKept: [.audience]
        case .leftCardKept: [.ended]
        case .leftCardForgotten: [.left]
        case .dateOfTheEcho, .refreshForgotten: [.fresh]
        case .wrongTokenCloses: [.served]
        case .startBudgetForgottenAtDelete: [.budget]
        case .tokenTakenByStranger: [.holders]
        case .tokenSeenInTheFuture: [.converges, .ended, .reloads]
        case .clockNeverFollowed: [.clock]
        case .tokenForgottenAtRelaunch: [.tokensKnown]
        case .cutUnderHead: [.fold, .damage]
        case .retiredAfterRestart: [.listed]
        case .endLeavesTheRest: [.endMany]
        case .channelExpiration, .channelBeforeEnd, .endEchoedToSuccessor, .channelGoneForgotten:
            [.broadcasts]
        }
    }

    /// Whether a violation is what this mutant has to be found by.
    package func isFound(by violation: Violation) -> Bool {
        promises.contains { $0.rawValue == violation.promise }
    }

    /// What it shows in: all its worlds have these faults.
    var needs: FaultSet {
        switch self {
        case .startBudgetForgottenAtDelete: [FaultSet(.deletedDevices), FaultSet(.restarts)]
        case .endLeavesTheRest: FaultSet(.endMany)
        case .channelBudgetAnew: FaultSet(.broadcasts)
        case .wrongTokenCloses: FaultSet(.wrongTokens)
        case .outcomeForgotten: FaultSet(.orderlyRestarts)
        case .tokenForgottenAtRelaunch: FaultSet(.offline)
        case .entriesKept, .doorOfAnother, .actionFromArrival:
            [FaultSet(.widgets), FaultSet(.reloads)]
        case .startWaitForgotten: [FaultSet(.crashes), FaultSet(.pauses)]
        case .dateOfTheEcho, .refreshForgotten: FaultSet(.repeats)
        case .reloadOwedForgotten: [FaultSet(.crashes), FaultSet(.reloads), FaultSet(.types)]
        case .leftCardForgotten: [FaultSet(.changedUsers), FaultSet(.offline)]
        case .timestampsMovedByKills: FaultSet(.crashes)
        case .cardNamedTwice: FaultSet(.deletedDevices)
        case .stateOfAnotherLife: [FaultSet(.restarts), FaultSet(.lateTokens)]
        default: []
        }
    }
}
