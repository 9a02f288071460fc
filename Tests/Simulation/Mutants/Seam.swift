import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloLoop
import TomboloRelay

/// The one place where something passes between a relay and its world: what is asked of it, what
/// it stores and finds again, what it sends and what it is told of that.
///
/// A mutant changes what passes here; without one all of it passes as it is. What it does to pushes
/// is in `Seam+Pushes`, to outcomes in `Seam+Outcomes`, to the log in `Seam+Log`, to questions in
/// `Seam+Questions`.
final class Seam {
    /// A token's name on a device.
    struct TokenOfDevice: Hashable {
        var device: DeviceKey
        var name: TokenName
    }

    unowned let world: World
    let mutant: Mutant?
    /// Pushes that were kept back, by token: the newest only.
    var held: [String: (push: Push, life: Life)] = [:]
    /// When a push last went to a token.
    var passedAt: [String: MonotonicInstant] = [:]
    /// The newest push that went to a token.
    var newest: [String: PushID] = [:]
    /// What the newest push of each token says.
    var marks: [String: Int64] = [:]
    /// Repetitions that the relay knows nothing of.
    private(set) var repetitions: Set<PushID> = []
    /// The starts that Apple has taken, by card.
    var starts: [CardKey: (push: Push, life: Life)] = [:]
    /// The ends that Apple has taken, by named channel.
    var ends: [String: Push] = [:]
    /// The first channel of each activity.
    var channels: [ActivityNumber: String] = [:]
    /// Pauses that are two, by the number of the first.
    var pairedPauses: [Int64: Int64] = [:]
    /// An activity that began again, to be retired with the next batch.
    var begunAnew: [RetiredActivity] = []
    /// The first user of each device.
    var usersKept: [DeviceKey: String] = [:]
    /// What a phone's widget got before, by the phone's number.
    var entriesKept: [Int: TimelineEntries] = [:]
    /// What is another one's after a deletion, to a mutant.
    var reborn = RebornDevices()
    /// When phones say to have seen their tokens.
    var tokensSeen: [TokenOfDevice: Instant] = [:]
    /// What recoveries have made of cards' newest timestamps, by the numbers of checkpoints.
    var movedTimestamps: [Int64: Int64] = [:]
    /// What a mutant of the log has to know of checkpoints.
    var checkpoints: [Int64: [UInt8]] = [:]

    init(_ world: World, _ mutant: Mutant?) {
        self.world = world
        self.mutant = mutant
    }

    /// The world begins.
    func begin() {
        guard mutant == .lostWakeUp else { return }
        world.loop.losesTimer = { [unowned self] target in
            target is Relay && world.dice.happens(.machine, oneIn: 30)
        }
    }

    /// Answers for a push that goes no further: the relay believes that Apple has taken it.
    func swallow(_ push: Push, _ life: Life) {
        world.after(.milliseconds(20)) {
            guard !life.isDead else { return }
            life.relay?.pushEnded(PushOutcome(push: push.id, result: .accepted, took: .zero))
        }
    }

    /// Sends a push once more, of which the relay knows nothing.
    func again(
        _ push: Push, _ life: Life, after delay: Duration,
        if isDue: @escaping () -> Bool = { true }
    ) {
        world.after(delay) { [self] in
            guard !life.isDead, isDue() else { return }
            var push = push
            world.numbers += 1
            push.id = PushID(UInt64(world.numbers) | 1 << 62)
            repetitions.insert(push.id)
            world.apple.take(push, life, isRepetition: true)
        }
    }

    /// Whether the relay knows nothing of a push.
    func isRepetition(_ push: PushID) -> Bool { repetitions.contains(push) }

    /// The activity that a push is of, and its card.
    func card(of push: Push) -> CardKey? { push.isReload ? nil : world.apple.key(of: push) }
}
