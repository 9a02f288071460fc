import TestSupport
import TomboloCore
import TomboloLoop
import TomboloRelay

/// What a seed's world consists of.
struct Plan {
    let faults: FaultSet
    let tenants: [TenantID]
    let phonesEach: Int
    let activitiesEach: Int
    let producersEach: Int
    /// Requests of each producer.
    let requests: Int
    let chaos: Duration
    let usesDisk: Bool
    /// Pushes go over HTTP/2, with the product's ends of it and memory between them.
    let usesWire: Bool
    /// Apps say when they learned a token.
    let tellsTimes: Bool
    /// Apps tell that they are there when all is healed, so that what is lost goes once more.
    let tellsAtHeal: Bool
    /// The relay is told that the disk is nearly full before it is.
    let warnsOfFullDisk: Bool
    /// Where cards are old before the world ends; nil: 8 hours, which no world has.
    let cardLife: CardLife?
    /// Widgets and controls have budgets that fill up before the heal is over.
    let widensReloads: Bool
    /// No producer asks for reloads, so that what a change owes is seen to come by itself.
    let onlyChangesReload: Bool
    /// More channels than these Apple does not make for an app.
    let channelsMax: Int
    /// Channels have budgets that activities use up.
    let narrowsChannels: Bool
    /// The log keeps so few facts that tenants have to share them; nil: all.
    let factRoom: FactRoom?
    /// Months in minutes; nil: what takes days does not come.
    let months: Months?

    init(_ dice: inout Dice, faults given: FaultSet?, mutant: Mutant?) {
        let names = dice.roll(.plan, 1...2) == 1 ? ["alpha"] : ["alpha", "beta"]
        tenants = names.map { TenantID(Self.identifier($0)) }
        phonesEach = dice.roll(.plan, 1...3)
        activitiesEach = dice.roll(.plan, 1...3)
        producersEach = dice.roll(.plan, 1...2)
        // Short lives in a share: many of them find what a few long ones do not.
        let count = dice.roll(.plan, dice.happens(.plan, oneIn: 2) ? 4...12 : 5...40)
        // A card of the user before is rare: that mutant's worlds are long.
        requests = mutant == .leftCardForgotten ? max(count, 25) : count
        let minutes = dice.pick(.plan, [1, 2, 5, 10, 30, 90])
        let usesDisk = dice.happens(.plan, oneIn: 8)
        usesWire = dice.happens(.plan, oneIn: 8) && (mutant == nil || mutant == .refusedThoughTaken)
        var tellsTimes = dice.happens(.plan, oneIn: 2)
        tellsAtHeal = dice.happens(.plan, oneIn: 3) || mutant == .leftCardForgotten
        warnsOfFullDisk = dice.happens(.plan, oneIn: 2)
        let forgetsOwed = mutant == .reloadOwedForgotten
        widensReloads = dice.happens(.reloads, oneIn: 2) || forgetsOwed
        channelsMax = dice.pick(.broadcasts, [1, 3, 6, 1_000])
        narrowsChannels = dice.happens(.broadcasts, oneIn: 2) || mutant == .channelBudgetAnew
        let share = dice.pick(.plan, [16, 8, 4, 2])
        var drawn = FaultSet()
        for fault in FaultSet.all.subtracting(.drawnApart).list
        where dice.happens(.plan, oneIn: share) {
            drawn.insert(FaultSet(fault))
        }
        if dice.happens(.plan, oneIn: 5) { drawn.insert(FaultSet(.cardLives)) }
        // What a restart forgets of a card shows when the card's time is over.
        if drawn.contains(FaultSet(.cardLives)), requests.isMultiple(of: 2) {
            drawn.insert(FaultSet(.crashes))
        }
        // In a share nothing may wait without a reason, whatever else goes wrong.
        if dice.happens(.plan, oneIn: 6) {
            drawn.subtract(.holding)
            if dice.happens(.plan, oneIn: 2) { drawn.insert(FaultSet(.crashInTurn)) }
        }
        Self.drawApart(&drawn, &dice, mutant)
        let few = FactRoom(
            bytes: Int64(dice.pick(.history, [2_000, 8_000, 40_000])), age: .hours(1))
        factRoom = dice.happens(.history, oneIn: 6) ? few : nil
        let restoresRenewals = dice.happens(.renewals, oneIn: 2)
        faults = given ?? Self.possible(drawn, restoresRenewals: restoresRenewals)
        // Other mutants show by reloads that producers ask for.
        let isAlone = dice.happens(.debts, oneIn: 2) && mutant == nil || forgetsOwed
        onlyChangesReload =
            isAlone && faults.isSuperset(of: [FaultSet(.reloads), FaultSet(.types)])
        tellsTimes = tellsTimes || faults.contains(FaultSet(.wrongPhones))
        let lives = faults.contains(FaultSet(.months)) ? CardLife.ofMonths : CardLife.ofHours
        let life = CardLife(&dice, lives)
        cardLife = faults.contains(FaultSet(.cardLives)) ? life : nil
        let spans = dice.happens(.months, oneIn: 3)
        let long = dice.pick(.months, Months.chaosMinutes)
        let isLong = faults.contains(FaultSet(.months))
        chaos = .seconds((isLong ? long : minutes) * 60)
        self.tellsTimes = tellsTimes
        self.usesDisk = usesDisk || isLong && spans
        months = isLong ? Months(&dice, life: life.length, chaos: chaos) : nil
    }

    /// Those that a world has by a throw of their own.
    private static func drawApart(_ drawn: inout FaultSet, _ dice: inout Dice, _ mutant: Mutant?) {
        let needsMonths = mutant == .cutUnderHead
        if dice.happens(.months, oneIn: needsMonths ? 2 : 5) {
            drawn.formUnion([FaultSet(.months), FaultSet(.cardLives), FaultSet(.restarts)])
            if needsMonths { drawn.insert(FaultSet(.crashes)) }
        }
        if dice.happens(.strangers, oneIn: 6) { drawn.insert(FaultSet(.strangers)) }
        if dice.happens(.clocks, oneIn: 3) { drawn.insert(FaultSet(.wrongPhones)) }
        if dice.happens(.owners, oneIn: 8) { drawn.insert(FaultSet(.deletedDevices)) }
        let needsUsers = mutant == .userKept || mutant == .leftCardKept
        if dice.happens(.owners, oneIn: needsUsers ? 4 : 10) {
            drawn.insert(FaultSet(.changedUsers))
        }
        if dice.happens(.clocks, oneIn: 10) { drawn.insert(FaultSet(.wrongClock)) }
        if dice.happens(.losses, oneIn: 4), drawn.contains(FaultSet(.channels)) {
            drawn.insert(FaultSet(.lostChannels))
        }
        if dice.happens(.ids, oneIn: 16) { drawn.insert(FaultSet(.secondIDs)) }
        if dice.happens(.widgets, oneIn: 4) {
            drawn.formUnion([FaultSet(.widgets), FaultSet(.reloads)])
        }
        if dice.happens(.repeats, oneIn: 12) { drawn.insert(FaultSet(.repeats)) }
        // What another mutant shows in may not be possible beside them.
        if dice.happens(.environments, oneIn: 12), mutant == nil {
            drawn.formUnion([FaultSet(.wrongTokens), FaultSet(.crashes)])
        }
        drawn.formUnion(mutant?.needs ?? [])
    }

    /// What can be promised at the same time.
    ///
    /// - Parameter restoresRenewals: a log that is put back may not know of a renewal.
    private static func possible(_ drawn: FaultSet, restoresRenewals: Bool) -> FaultSet {
        var drawn = drawn
        // Nothing else may hold a push for long, nor be shown by a phone that nothing reaches.
        if drawn.contains(FaultSet(.wrongTokens)) {
            drawn.subtract(.holding)
            drawn.subtract([
                FaultSet(.adopted), FaultSet(.channels), FaultSet(.broadcasts),
                FaultSet(.reloads), FaultSet(.widgets), FaultSet(.strangers), FaultSet(.months),
                FaultSet(.cardLives), FaultSet(.wrongClock), FaultSet(.deletedDevices),
                FaultSet(.changedUsers), FaultSet(.secondIDs), FaultSet(.retries),
            ])
        }
        // A phone's own timestamps would be ahead of a relay whose clock was set back, or slept.
        if drawn.contains(FaultSet(.wallSteps)) || drawn.contains(FaultSet(.suspends)) {
            drawn.remove(FaultSet(.localUpdates))
            // Nor is an order in what is told of times ahead of it: they count as arrivals.
            drawn.remove(FaultSet(.oldTokens))
            drawn.remove(FaultSet(.wrongPhones))
        }
        // By a phone's wrong clock nobody could tell which of two tokens is older.
        if drawn.contains(FaultSet(.wrongPhones)) { drawn.remove(FaultSet(.oldTokens)) }
        // One step is enough, and what is as old as years is over in a world of months.
        if drawn.contains(FaultSet(.wrongClock)) {
            drawn.subtract([
                FaultSet(.wallSteps), FaultSet(.suspends), FaultSet(.restores), FaultSet(.months),
                FaultSet(.localUpdates), FaultSet(.oldTokens), FaultSet(.channels),
            ])
        }
        // Where a day is half an hour, a step of an hour is one of days.
        if drawn.contains(FaultSet(.months)) { drawn.remove(FaultSet(.wallSteps)) }
        // A clock that was set back takes the timestamps of the gap with it; what types and tokens
        // were before it nobody knows.
        if drawn.contains(FaultSet(.restores)) {
            drawn.subtract([FaultSet(.wallSteps), FaultSet(.types), FaultSet(.oldTokens)])
            // A channel that was made in the gap is nobody's, and whose a phone became is unknown.
            drawn.subtract([FaultSet(.broadcasts), FaultSet(.changedUsers)])
            // Where it has a card listen on one, its phone may have begun again without.
            drawn.remove(FaultSet(.lostChannels))
        }
        // What widgets have spent stays with an id, as its class does, and whose the other id is
        // nobody tells.
        let others: FaultSet = [
            FaultSet(.reloads), FaultSet(.restores), FaultSet(.changedUsers),
            FaultSet(.deletedDevices), FaultSet(.strangers), FaultSet(.changedGrants),
            // By clocks that are set back the newer of two ids may seem the older.
            FaultSet(.wallSteps), FaultSet(.wrongClock), FaultSet(.suspends),
        ]
        if !drawn.isDisjoint(with: others) { drawn.remove(FaultSet(.secondIDs)) }
        // Phones do not sleep with a machine; and what is over for days a log that was put back
        // would bring back.
        if drawn.contains(FaultSet(.cardLives)) {
            drawn.remove(FaultSet(.suspends))
            if !restoresRenewals || drawn.contains(FaultSet(.months)) {
                drawn.remove(FaultSet(.restores))
            }
        }
        return drawn
    }

    /// Each activity's type is its own.
    static func type(of activity: String) -> String {
        activity.hasSuffix("3") ? "Walker" : "Runner"
    }

    static let types = ["Runner", "Walker"]

    static func identifier(_ text: String) -> Identifier {
        guard let identifier = Identifier(text) else {
            preconditionFailure("\(text) is an identifier")
        }
        return identifier
    }

    var chaosEnd: MonotonicInstant { MonotonicInstant(nanoseconds: 0) + chaos }

    /// How long anything can still hold a push after the last fault: a parked upstream 23 min, a
    /// token 5 min, a timestamp never.
    let healing = Duration.seconds(40 * 60)

    /// The bound of pacing rule 2 for the slowest class, and the times of disk and network.
    let quiet = Duration.seconds(60)

    /// Every delay together: a run that takes longer does not come to its end.
    var longest: MonotonicInstant { chaosEnd + healing + quiet + .seconds(3_600) }

    var configuration: CoreConfiguration {
        var configuration = CoreConfiguration(
            apps: [TenantID(Self.identifier("alpha")), TenantID(Self.identifier("beta"))].map {
                CoreConfiguration.App(
                    tenant: $0, id: World.appID, environment: .sandbox, allowsLab: true)
            })
        configuration.factRoom = factRoom
        cardLife?.apply(to: &configuration.limits)
        months?.apply(to: &configuration)
        if widensReloads, faults.contains(FaultSet(.reloads)) {
            configuration.budgets[.widget].spacing = .seconds(30)
            configuration.budgets[.widget].perHour = 60
            configuration.budgets[.control].perHour = 120
        }
        // A budget for starts that a few deletions would use up.
        if faults.contains(FaultSet(.deletedDevices)) { configuration.budgets[.start].burst = 4 }
        if narrowsChannels, faults.contains(FaultSet(.broadcasts)) {
            configuration.budgets[.channel] = Grant(
                spacing: .seconds(5), burst: 3, perHour: 60, reserve: 1,
                lowPrioritySpacing: .seconds(15))
        }
        return configuration
    }
}
