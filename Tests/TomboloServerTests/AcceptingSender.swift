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

    init(_ loop: any Loop) { self.loop = loop }

    func send(_ push: Push) {
        if taken.isEmpty { loop.atEndOfTurn(self) }
        taken.append(push)
        pushes.append(push)
    }

    func turnEnded() {
        let now = taken
        taken = []
        for push in now {
            relay?.pushEnded(
                PushOutcome(push: push.id, result: .accepted, took: .milliseconds(1)))
        }
    }
}
