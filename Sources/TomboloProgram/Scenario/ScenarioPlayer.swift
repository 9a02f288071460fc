import TomboloCore
import TomboloJSON
import TomboloLoop

/// Plays a scenario on the relay's phones, step by step, and checks what they show. It acts as the
/// producer and as the phones' users.
protocol ScenarioPlayer: Sendable {
    var stage: ScenarioStage { get set }
    /// Waits for the phones, and registers the types.
    mutating func begin() async throws
    /// Adds what is on the phones before the first step.
    func enter() async throws
    /// Called before each step.
    mutating func prepare() async throws
    func send(_ request: Scenario.Request) async throws
    /// Sends the producer's request for an action of a user.
    mutating func respond(to action: JSONView) async throws
    /// Sends what is due by now. Called again and again while the scenario stays.
    mutating func goOn() async throws
    /// Reads what the phones show.
    mutating func readPhones() async throws
    func holds(_ step: Scenario.Step) async throws -> Bool
    mutating func conclusion() async throws -> ScenarioSummary
    /// What is done at the end, even after a failure.
    ///
    /// - Parameter isOfStay: true if the scenario stayed instead of playing its steps.
    func partings(isOfStay: Bool) -> [ScenarioStage.Deed]
}

/// This gives two reads for each frame, and for the shortest life of a widget's entry.
private let lookInterval = Duration.milliseconds(50)

extension ScenarioPlayer {
    func enter() async throws {}
    mutating func prepare() async throws {}
    mutating func goOn() async throws {}

    /// Plays the steps. Stops at the first step after which phones do not show the expected state.
    mutating func run() async throws -> ScenarioSummary {
        try await begin()
        for request in stage.scenario.before { try await send(request) }
        let summary: ScenarioSummary
        do {
            try await enter()
            summary = try await playSteps()
        } catch {
            // If this fails too, report the first error.
            for deed in partings(isOfStay: false) { try? await deed() }
            throw error
        }
        for deed in partings(isOfStay: false) { try await deed() }
        return summary
    }

    private mutating func playSteps() async throws -> ScenarioSummary {
        var steps: [ScenarioSummary.Step] = []
        for step in stage.scenario.steps {
            try await prepare()
            for request in step.requests { try await send(request) }
            let isHeld = try await isHeld(step)
            steps.append(.init(name: step.name, shows: step.shows, isHeld: isHeld))
            if !isHeld { break }
        }
        var summary = try await conclusion()
        summary.steps = steps
        return summary
    }

    private mutating func isHeld(_ step: Scenario.Step) async throws -> Bool {
        let end = stage.loop.now + .nanoseconds(step.lasts?.nanoseconds ?? 0)
        return try await stage.loop.poll(
            every: lookInterval, within: ScenarioStage.convergenceTimeout
        ) {
            try await answerActions()
            try await readPhones()
            guard stage.loop.now >= end else { return nil }
            return try await holds(step) ? true : nil
        } ?? false
    }

    /// Begins the scenario and answers taps until `isStopped`, but at most for 8 hours, the maximum
    /// life of a card. Then ends it.
    mutating func stay(until isStopped: () -> Bool) async throws {
        stage.isStaying = true
        try await begin()
        try await enter()
        for request in stage.scenario.beginning { try await send(request) }
        let over = stage.loop.now + ScenarioStage.cardLife
        while !isStopped(), stage.loop.now < over {
            try await answerActions()
            try await goOn()
            try await stage.loop.sleep(for: lookInterval)
        }
        for deed in partings(isOfStay: true) { try await ScenarioStage.passOver(deed) }
    }

    private mutating func answerActions() async throws {
        for action in try await stage.newActions() { try await respond(to: action) }
    }
}

extension Scenario {
    /// Plays a scenario that goes on: its cards or widgets exist, and taps are answered, until the
    /// user stops it. Then the cards end and the widgets are removed.
    func stay(
        _ client: RelayClient, phones: Int, loop: EpollLoop, until isStopped: () -> Bool
    ) async throws {
        repeat {
            let stage = ScenarioStage(self, client, phones: phones, loop: loop)
            if name == "runner" {
                var runner = RunnerPlayer(stage)
                try await runner.stay(until: isStopped)
            } else {
                var player = player(on: stage)
                try await player.stay(until: isStopped)
            }
        } while !isStopped()
    }

    func player(on stage: ScenarioStage) -> any ScenarioPlayer {
        places.isEmpty ? CardPlayer(stage) : WidgetPlayer(stage)
    }
}
