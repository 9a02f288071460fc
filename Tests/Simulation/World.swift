import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloLoop
import TomboloRelay

/// One process of the relay, from start to crash or orderly stop.
final class Life: @unchecked Sendable {
    // Sendable: used on the virtual loop's thread only.
    let number: Int
    let death: Parking
    var relay: Relay?
    var isReady = false
    private(set) var isDead = false

    init(_ number: Int, _ loop: any Loop) {
        self.number = number
        death = Parking(loop)
    }

    /// From this moment on nothing that it does has any effect.
    func kill() {
        isDead = true
        isReady = false
        death.unpark()
    }
}

/// Everything around the relay, on one virtual loop: producers, Apple, phones, disk, clocks, and
/// the checkers that see all of it.
final class World: @unchecked Sendable {
    // Sendable: used on the virtual loop's thread only.
    static let upstreamCount = 2
    static let appID = "com.example.app"

    let faults: FaultSet
    private(set) lazy var seam = Seam(self, mutant)
    private let mutant: Mutant?
    let loop: VirtualLoop
    let clock: VirtualWallClock
    let plan: Plan
    var dice: Dice
    var history = History()
    var violations: [Violation] = []
    private(set) lazy var apple = Apple(self)
    var phones: [Phone] = []
    var outboxes: [CardKey: Outbox] = [:]
    var reference = Reference()
    /// What its events say, oldest first; nil where one cannot be read.
    var contents: [Command.Content?] = []
    var ledger = Ledger()
    var storage: LogStorage
    var life: Life?
    var lives = 0
    var isHealed = false
    var isOver = false
    /// Nothing is said any more, because what is known is compared.
    var isSilent = false
    var restTime: Duration = .zero
    /// The disk has been full from the one to the other, with breaks too short to be of use.
    var fullSince = MonotonicInstant(nanoseconds: 0)
    var roomSince = MonotonicInstant(nanoseconds: 0)
    /// The last commit that succeeded.
    var durableAt = MonotonicInstant(nanoseconds: 0)
    /// How many batches became durable.
    var batches = 0
    /// When something last went wrong that may hold a push.
    var lastTrouble = MonotonicInstant(nanoseconds: 0)
    var numbers: Int64 = 0
    /// Tokens of each device's record by their names, and those that were taken from one.
    var recordedTokens: [Int64: [String: String]] = [:]
    var retiredTokens: Set<String> = []
    /// What an operator holds back for sure.
    var pauses: [HeldPause] = []
    /// By name, those that somebody has asked to end.
    var endedPauses: Set<String> = []
    /// Of activity types: what class they have.
    var typeTimelines: [ActivityType.Key: GrantTimeline] = [:]
    /// A copy of the log, with its time.
    var backup: LogStorage?
    /// When the log was put back, by the machine's clock.
    var restoredAt: Instant?
    var isRestoring = false
    var isDiskFull = false
    /// The wire of each life: what it was doing may come to its time when the life is over.
    var wires: [WireSender] = []
    var offices: [ChannelOffice] = []
    /// Of every installation, oldest first.
    var reloadBooks: [ReloadBook] = []
    var timelineBooks: [TimelineBook] = []
    var doorBooks: [DoorBook] = []
    var doorTaps: [DoorTap] = []
    /// Types that may have been registered with reloads.
    var reloadingTypes = 0
    /// Types that surely are registered with reloads.
    var surelyReloading: Set<ActivityType.Key> = []
    /// Names that were given a second time.
    var archives = 0
    /// Of this life: on which boot it began, and by how much the wall clock was wrong then.
    var start: (boot: String, offset: Int64) = ("boot 1", 0)
    /// The same of the last life that has left anything on record.
    var recordedStart: (boot: String, offset: Int64) = ("boot 1", 0)
    /// What reboots may have added to the age of a card by the relay's clock.
    var agedByReboots: [(at: MonotonicInstant, by: Duration)] = []
    let rest: Parking

    init(seed: UInt64, faults: FaultSet?, mutant: Mutant?) {
        var dice = Dice(seed: seed)
        let plan = Plan(&dice, faults: faults, mutant: mutant)
        self.plan = plan
        self.faults = plan.faults
        self.mutant = mutant
        loop = VirtualLoop(seed: seed ^ 0x5eed)
        clock = VirtualWallClock(loop, begin: plan.months?.epoch ?? VirtualWallClock.epoch)
        storage =
            plan.usesDisk
            ? LogStorage(
                diskSeed: dice.seed(.disk), retention: plan.months?.retention ?? .forever)
            : LogStorage(memorySeed: seed)
        self.dice = dice
        rest = Parking(loop)
        beginWithWrongClock()
        makePhones()
        makeStrangers()
        makeWrongPhones()
        makeTimelines()
        makeDoors()
    }

    private func makePhones() {
        for tenant in plan.tenants {
            for index in 0..<plan.phonesEach {
                var budgetClass: BudgetClass? = dice.pick(
                    .plan, [BudgetClass.standard, .frequent, .lab])
                if faults.contains(FaultSet(.types)), dice.happens(.plan, oneIn: 2) {
                    budgetClass = nil
                }
                phones.append(
                    Phone(
                        number: phones.count, tenant: tenant,
                        id: Plan.identifier("phone-\(index)"), user: index < 2 ? "ann" : "bob",
                        budgetClass: budgetClass, system: system(of: phones.count), loop: loop))
            }
        }
    }

    private func system(of number: Int) -> String {
        if number % 3 == 2 { return "17.4" }
        let isNew = faults.contains(FaultSet(.reloads)) && dice.happens(.reloads, oneIn: 2)
        return isNew ? "26.1" : "18.2"
    }

    // MARK: Time and chance

    /// Whether a fault is on, not yet healed, and its throw falls.
    func strikes(_ fault: Fault, _ purpose: Dice.Purpose, oneIn count: Int) -> Bool {
        guard !isHealed, faults.contains(FaultSet(fault)) else { return false }
        return dice.happens(purpose, oneIn: count)
    }

    func diskDelay() -> Duration {
        if strikes(.slowDisk, .disk, oneIn: 8) { return dice.time(.disk, 100...3_000) }
        return .microseconds(dice.roll(.disk, 50...4_000))
    }

    func after(_ delay: Duration, _ body: @escaping () -> Void) {
        _ = loop.schedule(at: loop.now + delay, Call(body))
    }

    var seconds: Double { Double(loop.now.nanoseconds / 1_000_000) / 1_000 }

    // MARK: What is noted

    func note(
        _ step: History.Step, who: Int = 0, _ first: Int64 = 0, _ second: Int64 = 0,
        _ text: @autoclosure () -> String = ""
    ) {
        history.note(loop.now, step, who: who, first, second, text())
    }

    func violated(_ promise: Promise, _ detail: String) {
        guard violations.count < 20 else { return }
        violations.append(Violation(promise: promise.rawValue, detail: detail, at: seconds))
        note(.violation, who: -1, 0, 0, "\(promise.rawValue): \(detail)")
    }

    /// - Parameter time: it may hold pushes for so long.
    func trouble(for time: Duration = .zero) { lastTrouble = max(lastTrouble, loop.now + time) }

    /// Lets go of what refers to this world, when its run is over.
    func close() {
        loop.close()
        life?.relay = nil
        life = nil
        wires = []
        offices = []
    }

    // MARK: The run

    /// All of it, from the first start to the last comparison.
    func run() async {
        let edges = (plan.usesDisk ? ", SQLite" : "") + (plan.usesWire ? ", HTTP/2" : "")
        note(.lifeBegins, who: -1, 0, 0, "faults \(faults)\(edges)")
        await withDiscardingTaskGroup { group in
            group.addTask(executorPreference: loop) { await self.keepAlive() }
            for phone in phones {
                equip(phone)
                let number = phone.number
                group.addTask(executorPreference: loop) { await self.uploads(of: number) }
                group.addTask(executorPreference: loop) { await self.fetchTimelines(of: number) }
                group.addTask(executorPreference: loop) { await self.visitDoors(of: number) }
            }
            for tenant in plan.tenants {
                group.addTask(executorPreference: loop) { await self.followTaps(of: tenant) }
            }
            group.addTask(executorPreference: loop) { await self.operate() }
            group.addTask(executorPreference: loop) { await self.wantReloads() }
            group.addTask(executorPreference: loop) { await self.keepTimelines() }
            group.addTask(executorPreference: loop) { await self.keepDoors() }
            group.addTask(executorPreference: loop) { await self.keepChannels() }
            group.addTask(executorPreference: loop) { await self.repeatEverything() }
            beginTroubles()
            await produce()
            await heal()
            isOver = true
            group.cancelAll()
            rest.unpark()
            life?.kill()
        }
    }

    /// Producers, side by side, until the chaos ends.
    private func produce() async {
        await withDiscardingTaskGroup { group in
            for (index, tenant) in plan.tenants.enumerated() {
                for producer in 0..<plan.producersEach {
                    let id = index * 10 + producer
                    group.addTask(executorPreference: loop) {
                        await Producer(self, tenant, id).run()
                    }
                }
            }
        }
        await pause(until: plan.chaosEnd)
    }

    func pause(until instant: MonotonicInstant) async {
        do { try await loop.sleep(until: instant) } catch {}
    }

    func pause(_ duration: Duration) async { await pause(until: loop.now + duration) }

    /// Ends all faults, waits until nothing holds anything any more, changes everything once more,
    /// and compares.
    private func heal() async {
        isHealed = true
        note(.heal, who: -1)
        clock.step(to: .zero)
        apple.heal()
        isDiskFull = false
        storage.setFull(false)
        // It went while the log was cut: who has nothing to write would not notice.
        if storage.calm() { crash() }
        for phone in phones { comeOnline(phone) }
        await resumeEverything()
        await wantEverythingReloaded()
        // Each app says that it is there: what its phone has lost goes once more.
        for phone in phones where plan.tellsAtHeal && !phone.startTokens.isEmpty {
            register(phone, phone.timeline?.latest)
        }
        if faults.contains(FaultSet(.clips)) || faults.contains(FaultSet(.bundles)) {
            await Producer(self, plan.tenants[0], 98).stopEverything()
        }
        await pause(plan.healing)
        while life?.isReady != true { await pause(.milliseconds(100)) }
        await checkAfterHealing()
        checkReloadsOfChanges()
        await changeTimelines()
        await changeDoors()
        await Producer(self, plan.tenants[0], 99).changeEverything()
        await pause(plan.quiet)
        note(.quiet, who: -1)
        await endRepeating()
        await checkAtTheEnd()
    }
}
