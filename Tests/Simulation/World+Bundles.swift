import TestSupport
import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

/// All frames of a flip-book, as one content state holds them.
struct BundleContent {
    /// Which play they are of: it stands in each frame.
    var play: Int64
    var frames: [String]
    /// Seconds.
    var every: Double
    /// As it is written.
    var loop: String
    /// Unix seconds.
    var began: Double

    /// Nil where the view holds anything else.
    init?(_ view: JSONView) {
        guard let frames = view["frames"]?.elements.compactMap(\.string),
            let play = frames.first?.split(separator: "-").first.flatMap({ Int64($0) }),
            let every = Self.number(view["every"]), let began = Self.number(view["began"]),
            let loop = view["loop"], view["path"]?.string == "/f"
        else { return nil }
        self.play = play
        self.frames = frames
        self.every = every
        self.began = began
        self.loop = String(decoding: loop.raw, as: UTF8.self)
    }

    private static func number(_ view: JSONView?) -> Double? {
        view.flatMap { Double(String(decoding: $0.raw, as: UTF8.self)) }
    }
}

extension Reference {
    /// A flip-book as its producer asked for it.
    struct Flip {
        var frames: [String]
        var every: Double
        /// As a bundle says it.
        var loop: String
        var playedAt: Instant
        /// It goes as a bundle, and ends by nobody's clock.
        var isEndlessBundle: Bool

        init?(_ view: JSONView, at instant: Instant) {
            guard let book = view["flipbook"], let every = book["every"]?.string else { return nil }
            frames = book["frames"]?.elements.compactMap(\.string) ?? []
            self.every = ["100ms": 0.1, "1s": 1, "5s": 5][every] ?? 0
            let loop = book["loop"]
            self.loop =
                switch loop?.string {
                case "forever": "true"
                case "once": "1"
                default: "\(loop?.integer ?? 0)"
                }
            playedAt = instant
            isEndlessBundle = view["fit"]?.string == "bundle" && self.loop == "true"
        }
    }
}

// Bundles: all frames go at once, and the phone plays them.

extension World {
    /// Looks at a bundle as it is handed over.
    func checkBundle(_ content: PushContent, _ name: String, _ life: Life) {
        guard let bundle = content.bundle else {
            if content.hasUnreadBundle { violated(.bundles, "\(name): it cannot be read") }
            return
        }
        func check(_ holds: Bool, _ detail: @autoclosure () -> String) {
            if !holds { violated(.bundles, "\(name) play \(bundle.play): \(detail())") }
        }
        guard let flip = reference.flips[bundle.play] else {
            return check(false, "nobody has asked for it")
        }
        check(bundle.frames == flip.frames, "\(bundle.frames), not \(flip.frames)")
        check(bundle.every == flip.every, "every \(bundle.every), not \(flip.every)")
        check(bundle.loop == flip.loop, "loop \(bundle.loop), not \(flip.loop)")
        let clocks: [Fault] = [.wallSteps, .suspends, .reboots, .restores, .wrongClock]
        guard !clocks.contains(where: { faults.contains(FaultSet($0)) }) else { return }
        let played = Double(flip.playedAt.nanoseconds) / 1e9
        check(abs(bundle.began - played) < 0.01, "it began at \(bundle.began), not \(played)")
        guard let wall = life.relay?.assumeIsolated({ $0.wallNow() }), flip.loop == "true",
            let index = content.frame?.split(separator: "-").last.flatMap({ Int($0) })
        else { return }
        let steps = Int((Double(wall.nanoseconds) / 1e9 - bundle.began) / bundle.every)
        let off = (steps - index) % flip.frames.count
        check(
            [0, 1, -1, flip.frames.count - 1, 1 - flip.frames.count].contains(off), "frame \(index)"
        )
    }

    /// One push is a whole bundle: it is not sent frame by frame.
    func checkBundles(_ key: CardKey, _ outbox: Outbox) {
        let others: [Fault] = [
            .retries, .restores, .rotation, .oldTokens, .lateStates, .presence, .pauses, .tweens,
            .types, .changedGrants, .deletedDevices, .changedUsers, .secondIDs,
            // After each step of the clock a bundle goes once more: the phone has dropped it.
            .wallSteps,
        ]
        guard !others.contains(where: { faults.contains(FaultSet($0)) }) else { return }
        struct Change: Hashable {
            var life: Int
            var mark: Int64
            var play: Int64
        }
        var repeated: [Change: Int] = [:]
        for sent in outbox.sends where sent.fate == .accepted && !sent.isStale && sent.alert == nil
        {
            guard let play = sent.bundle, let answered = sent.answeredAt,
                answered - sent.at < .seconds(10)
            else { continue }
            let change = Change(life: sent.life, mark: sent.mark, play: play)
            repeated[change, default: 0] += 1
            guard repeated[change] == Echo.countMax + 4 else { continue }
            violated(
                .bundles,
                "phone \(key.phone) \(key.reference.text) play \(play): for the "
                    + "\(repeated[change] ?? 0)th time in life \(sent.life)")
        }
    }

    /// A phone has the bundle that its activity plays.
    func checkBundle(on card: Card, _ phone: Phone, _ name: String, _ model: Reference.Model) {
        guard let play = model.bundle, card.bundle != play else { return }
        // It rests while the app is in front or on its way there, also by a report that came late.
        if let since = phone.mayBeFrontSince,
            loop.now - since < .nanoseconds(Presence.lease.nanoseconds) + .seconds(20)
        {
            return
        }
        violated(.converges, "\(name) plays \(card.bundle ?? 0), not \(play)")
    }
}
