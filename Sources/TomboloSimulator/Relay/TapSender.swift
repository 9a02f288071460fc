import TomboloContract
import TomboloLoop

/// Posts each tap once, at once, and never again. It uses a connection of its own, because reports
/// may wait for a slow relay.
final class TapSender: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let phone: String
    private let link: RelayLink
    private let loop: any Loop
    private let parking: Parking
    private var waiting: [(tap: PhoneTap, at: MonotonicInstant)] = []
    /// Called with the outcome of each tap.
    var ended: (Int, PhoneTap.Outcome) -> Void = { _, _ in }

    init(phone: String, link: RelayLink, loop: any Loop) {
        self.phone = phone
        self.link = link
        self.loop = loop
        parking = Parking(loop)
    }

    func send(_ tap: PhoneTap) {
        waiting.append((tap, loop.now))
        parking.unpark()
    }

    /// Sends taps until the task is cancelled.
    func run() async throws {
        defer { link.close() }
        while true {
            try Task.checkCancellation()
            guard !waiting.isEmpty else {
                if await parking.park() == .cancelled { throw CancellationError() }
                continue
            }
            let (tap, at) = waiting.removeFirst()
            ended(tap.number, await post(tap, within: Tap.patience - (loop.now - at)))
        }
    }

    private func post(_ tap: PhoneTap, within time: Duration) async -> PhoneTap.Outcome {
        let key = "\(phone)-\(tap.number)-\(tap.at.rfc3339)"
        let path = "/devices/\(PathSegment.encoded(phone))/actions"
        let answer =
            time > .zero ? await link.post(path, tap.body, key: key, within: time) : nil
        return switch Tap.outcome(status: answer?.status, body: answer?.body ?? []) {
        case .sent(let action): .sent(action: action)
        case .notSent(let reason): .notSent(reason: reason)
        }
    }
}

extension PhoneTap {
    /// Body of the request to the relay.
    package var body: [UInt8] {
        var tap = Tap()
        (tap.activity, tap.widget, tap.config) = (activity, widget, config)
        (tap.link, tap.intent, tap.parameters) = (link, intent, parameters)
        return tap.body(time: at.rfc3339)
    }
}
