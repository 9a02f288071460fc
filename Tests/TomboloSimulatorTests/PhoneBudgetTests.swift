import Testing

@testable import TomboloSimulator

/// The phone's budget as windows: a hypothesis that fits what people saw.
@Suite struct PhoneBudgetTests {
    private func started(
        _ configure: (inout PhoneConfiguration) -> Void = { _ in }
    ) -> PhoneBench {
        var bench = PhoneBench {
            $0.drawsEvery = .zero
            configure(&$0)
        }
        bench.start()
        return bench
    }

    private static func frequent(_ configuration: inout PhoneConfiguration) {
        configuration.budgetClass = .frequent
        configuration.frequentPushesEnabled = true
    }

    @Test func `fourteen pushes at 10 in an hour pass, the fifteenth is held`() {
        var bench = started()
        for index in 1...14 { bench.change(image: "\(index)", priority: 10) }
        #expect(bench.shown == #"{"image":"14"}"#)
        bench.change(image: "15", priority: 10)
        #expect(bench.shown == #"{"image":"14"}"#)
        #expect(bench.reasons == [.heldOverBudget])
    }

    @Test func `while exhausted every push waits in one place, the newest wins`() {
        var bench = started()
        for index in 1...15 { bench.change(image: "\(index)", priority: 10) }
        bench.change(image: "low", priority: 5)
        bench.change(image: "newest", priority: 5)
        #expect(
            bench.reasons == [
                .heldOverBudget, .replacedOverBudget, .heldOverBudget, .replacedOverBudget,
                .heldOverBudget,
            ])
        #expect(bench.phone.deadline == PhoneBench.beginning + .seconds(3_600))
        bench.pass(.seconds(3_600))
        #expect(bench.shown == #"{"image":"newest"}"#)
        #expect(bench.phone.ignoredCount == 2, "what was shown later is not counted")
    }

    @Test func `what is held is shown when the phone is used`() {
        var bench = started()
        for index in 1...15 { bench.change(image: "\(index)", priority: 10) }
        bench.perform { $0.touch(at: $1) }
        #expect(bench.shown == #"{"image":"15"}"#)
        bench.change(image: "16", priority: 10)
        #expect(bench.reasons == [.heldOverBudget, .heldOverBudget], "that gives no budget")
        bench.perform { $0.move(to: .active, at: $1) }
        bench.change(image: "17", priority: 10)
        #expect(bench.shown == #"{"image":"17"}"#, "in the user's hand nothing is held")
    }

    @Test func `an end is held too, and shown when the window ends`() {
        var bench = started()
        for index in 1...14 { bench.change(image: "\(index)", priority: 10) }
        bench.change("end", image: "done", priority: 10)
        #expect(bench.phone.cards[0].phase == .active)
        bench.pass(.seconds(3_599))
        #expect(bench.phone.cards[0].phase == .active)
        bench.pass(.seconds(1))
        #expect(bench.shown == #"{"image":"done"}"#)
        #expect(bench.changes.last?.change == .ended)
    }

    @Test func `the sum over the app's cards decides, and may be negative`() {
        var bench = started()
        bench.start(id: "dog")
        let (cat, dog) = (bench.updateTokens[0], bench.updateTokens[1])
        bench.change(image: "b", priority: 10, token: dog)
        for index in 1...28 { bench.change(image: "\(index)", priority: 10, token: cat) }
        #expect(bench.reasons == [], "the dog's window bears the cat's")
        #expect(bench.phone.windows.left(at: bench.now) == 1)
        bench.change(image: "x", priority: 10, token: cat)
        bench.change(image: "y", priority: 10, token: dog)
        #expect(bench.reasons == [.heldOverBudget, .replacedOverBudget, .heldOverBudget])
        #expect(bench.phone.windows.left(at: bench.now) == -1)
    }

    @Test func `an end that is read takes its card's window along`() {
        var bench = started()
        for index in 1...13 { bench.change(image: "\(index)", priority: 10) }
        bench.change("end", priority: 10)
        #expect(bench.phone.windows.left(at: bench.now) == nil)
    }

    @Test func `a start spends no update`() {
        let bench = started()
        #expect(bench.phone.windows.left(at: bench.now) == nil)
    }

    @Test func `with frequent updates a window has 240, on an unused phone 15`() {
        var bench = started(Self.frequent)
        for index in 1...239 { bench.change(image: "\(index)", priority: 10) }
        #expect(bench.reasons == [])
        bench.change(image: "x", priority: 10)
        #expect(bench.reasons == [.heldOverBudget])

        var unused = started(Self.frequent)
        unused.pass(.seconds(3_600))
        #expect(unused.phone.budgetLevel(at: unused.now) == .unused)
        for index in 1...15 { unused.change(image: "\(index)", priority: 10) }
        #expect(unused.reasons == [.heldOverBudget])
    }

    @Test func `a phone in use is no unused one, however long that lasts`() {
        var bench = started(Self.frequent)
        bench.perform { $0.move(to: .active, at: $1) }
        bench.pass(.seconds(7_200))
        #expect(bench.phone.budgetLevel(at: bench.now) == .frequent)
        bench.perform { $0.setLocked(true, at: $1) }
        bench.pass(.seconds(3_599))
        #expect(bench.phone.budgetLevel(at: bench.now) == .frequent)
        bench.pass(.seconds(1))
        #expect(bench.phone.budgetLevel(at: bench.now) == .unused)
    }

    @Test func `below zero the user is asked, and may allow more`() {
        var bench = started { $0.budgetClass = .frequent }
        for index in 1...15 { bench.change(image: "\(index)", priority: 10) }
        #expect(bench.phone.frequentPrompt == .notAsked)
        bench.change(image: "x", priority: 10)
        #expect(bench.phone.frequentPrompt == .asks)
        var denied = bench
        denied.perform { $0.answerPrompt(allow: false, at: $1) }
        #expect(denied.phone.frequentPrompt == .answered && !denied.phone.isFrequentAllowed)
        bench.perform { $0.answerPrompt(allow: true, at: $1) }
        #expect(bench.phone.budgetLevel(at: bench.now) == .frequent)
        #expect(bench.phone.windows.left(at: bench.now) == 224)
        #expect(bench.phone.windows.full(at: bench.now) == 240)
        bench.perform { $0.answerPrompt(allow: false, at: $1) }
        #expect(bench.phone.isFrequentAllowed, "it asks once")
    }

    @Test func `numbers that drift count from the next window on`() {
        var bench = started()
        bench.change(image: "b", priority: 10)
        bench.phone.setBudgetLevels(.init(standard: 3))
        for index in 1...13 { bench.change(image: "\(index)", priority: 10) }
        #expect(bench.reasons == [])
        bench.perform { $0.touch(at: $1) }
        bench.pass(.seconds(3_599))
        bench.perform { $0.touch(at: $1) }
        bench.pass(.seconds(1))
        for index in 1...3 { bench.change(image: "\(index)", priority: 10) }
        #expect(bench.reasons == [.heldOverBudget])
    }

    @Test func `a restart of the phone gives no budget`() {
        var bench = started()
        for index in 1...14 { bench.change(image: "\(index)", priority: 10) }
        bench.perform { $0.restart(at: $1) }
        #expect(bench.phone.isLocked)
        bench.change(image: "15", priority: 10)
        #expect(bench.reasons == [.heldOverBudget])
    }

    @Test func `the laboratory holds nothing`() {
        var bench = started { $0.budgetClass = .lab }
        for index in 1...1_000 { bench.change(image: "\(index)", priority: 10) }
        #expect(bench.reasons == [])
    }
}

/// What a command line sets about single phones.
@Suite struct PhoneSettingTests {
    private func phone(_ settings: [(String, String)]) throws -> PhoneConfiguration {
        var configuration = SimulatorConfiguration(keys: [], bundleIDs: ["com.example.app"])
        for (name, text) in settings { try configuration.set(name, text) }
        return configuration.phone(3, startTokenSeed: [], updateTokenSeed: [])
    }

    @Test(arguments: [
        ("os", "17.4"), ("class", "lab"), ("user", "u1"), ("frequent-updates", "on"),
        ("allow", "7s"), ("budget", "bucket"), ("starts", "3"), ("starts-window", "24h"),
        ("watch", "on"), ("draws-every", "1s"), ("holds-low-priority", "off"),
        ("groups-low-priority", "1m"), ("reorders", "5"), ("trouble", "low_power"),
        ("no-update-token", "0.6"), ("start-jitter", "40s"), ("token-dies-after", "30m"),
        ("dead-token-grace", "1h"), ("app", "careless"),
    ])
    func `each setting changes its phone and no other`(name: String, text: String) throws {
        let plain = try phone([])
        #expect(try phone([("phone-3." + name, text)]) != plain)
        #expect(try phone([("all." + name, text)]) != plain)
        #expect(try phone([("phone-2." + name, text)]) == plain)
        #expect(PhoneSetting(rawValue: name) != nil)
    }

    @Test func `what is no setting, or no value, says what is`() {
        for (name, text, words) in [
            ("phone-3", "x", "write phone-3.os=17.4"), ("phone-3.colour", "red", "with one of os"),
            ("phone-3.os", "new", "os is a version"), ("all.starts", "0", "a whole number"),
            ("all.no-update-token", "2", "from 0 to 1"), ("all.allow", "soon", "at-once, never"),
            ("all.trouble", "rain", "extension_frozen"), ("all.watch", "yes", "on or off"),
        ] {
            let error = #expect(throws: SimulatorError.self) { try phone([(name, text)]) }
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        }
    }

    @Test func `a phone that there is not is found`() throws {
        var configuration = SimulatorConfiguration(keys: [], bundleIDs: [])
        for name in ["phone-3.os", "all.os", "phone-4.os"] { try configuration.set(name, "18.0") }
        #expect(configuration.unknownPhones == ["phone-4"])
    }
}
