import Testing

@testable import TomboloContract

/// Lives of apps by chance: launches and force-quits, cards and tokens, users, and a network that
/// comes and goes. At their end the network is back, and all must hold, also where nobody opens the
/// app.
@Suite struct RandomLifeTests {
    /// Repeatable chance (SplitMix64).
    struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    static let seeds = UInt64(1)...300
    static let steps = 40

    private static func live(_ seed: UInt64, _ mistake: AppLife.Mistake?) -> AppLife {
        var dice = Dice(state: seed)
        var life = AppLife(mistake)
        life.launch()
        for step in 0..<steps { act(step, &life, &dice) }
        life.isPropertyNil = Bool.random(using: &dice)
        let isOpened = Bool.random(using: &dice)
        if isOpened || !life.isRunning { life.launch(inFront: isOpened) }
        // A token that the stream has kept back is known once the app is opened.
        if !isOpened { life.isPropertyNil = true }
        if life.user == nil { life.signIn("u42") }
        if life.user != life.keyUser { life.signIn("u43") }
        // The person taps "Allow" on each card that still waits for it.
        for (id, card) in life.cards.sorted(by: { $0.key < $1.key })
        where card.token == nil && !card.phase.isOver {
            life.issueToken("allowed \(id)", of: id)
        }
        life.findNetwork()
        return life
    }

    private static func act(_ step: Int, _ life: inout AppLife, _ dice: inout Dice) {
        let ids = life.cards.keys.sorted()
        let id = ids.randomElement(using: &dice) ?? ""
        switch Int.random(in: 0..<20, using: &dice) {
        case 0, 1: life.issueStartToken("a\(step)")
        case 2...4:
            let name = "order-\(Int.random(in: 1...3, using: &dice))"
            let token = Bool.random(using: &dice) ? "b\(step)" : nil
            life.pushStart("c\(step)", name: name, token: token, wakes: step % 4 != 0)
        case 5, 6: if !ids.isEmpty { life.issueToken("d\(step)", of: id) }
        case 7: if !ids.isEmpty { life.change(id, to: .ended) }
        case 8: if !ids.isEmpty { life.change(id, to: .dismissed) }
        case 9: if !ids.isEmpty { life.change(id, to: .stale) }
        case 10: life.hasNetwork = false
        case 11: life.findNetwork()
        case 12, 13: life.terminate()
        case 14: life.launch()
        case 15: life.launch(inFront: true)
        case 16: life.pass(.seconds(Int.random(in: 1...600, using: &dice)))
        case 17: life.pass(.seconds(2 * 3_600 + 60))
        case 18: life.isStreamSilent.toggle()
        default: changeUser(&life, &dice)
        }
    }

    /// The app is in front while somebody signs in or out.
    private static func changeUser(_ life: inout AppLife, _ dice: inout Dice) {
        life.launch(inFront: true)
        let next = Bool.random(using: &dice) ? "u42" : "u43"
        switch Int.random(in: 0..<3, using: &dice) {
        case 0: life.signIn(next)
        case 1: life.signIn(next, inApp: false)
        default:
            life.signOut()
            life.pass(.seconds(30))
            life.signIn(next)
        }
    }

    @Test func `in no life a card is doubled or orphaned, or a token unknown`() {
        for seed in Self.seeds {
            let faults = Self.live(seed, nil).faults
            #expect(faults == [], "seed \(seed)")
            if !faults.isEmpty { return }
        }
    }

    @Test(arguments: [
        AppLife.Mistake.forgetsTokensAtRelaunch, .forgetsAtRelaunch, .ignoresActivities,
        .ignoresActivityUpdates, .ignoresStartToken, .uploadsEmptyTokens, .givesUpAtFirst,
        .endsNothing,
    ])
    func `a mistake is found within 300 lives`(mistake: AppLife.Mistake) {
        #expect(Self.seeds.contains { !Self.live($0, mistake).faults.isEmpty })
    }
}
