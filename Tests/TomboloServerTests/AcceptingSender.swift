import TomboloCore
import TomboloLoop
import TomboloRelay

/// Stands where Apple is: takes every push, at the end of the turn in which it came.
///
/// These are tests of the doors; what pushes are is tested with the core, and over HTTP/2 with the
/// simulator.
final class AcceptingSender: PushSender, TurnTarget, @unchecked Sendable {  // used on its loop only
    private let loop: any Loop
    private var taken: [Push] = []
    private(set) var pushes: [Push] = []
    var relay: Relay?
    /// Apple's word against every push permanently; nil: each is taken.
    var refusal: String?
    /// Apple's word about every push, whatever `refusal` says.
    var verdict: PushResult?
    /// Apple never answers.
    var isSilent = false

    init(_ loop: any Loop) { self.loop = loop }

    func send(_ push: Push) {
        if taken.isEmpty { loop.atEndOfTurn(self) }
        taken.append(push)
        pushes.append(push)
    }

    func turnEnded() {
        let now = taken
        taken = []
        guard !isSilent else { return }
        for push in now {
            let result: PushResult =
                verdict ?? refusal.map {
                    .rejected(status: 400, reason: $0, reaches: .push, tokenGoneSince: nil)
                } ?? .accepted
            relay?.pushEnded(
                PushOutcome(
                    push: push.id, result: result, took: .milliseconds(1),
                    changedAt: push.changedAt),
                in: push.upstream)
        }
    }
}
