import TomboloJSON
import TomboloLoop

/// Posts each tap once and at once; it never retries later. It uses its own connection, because
/// reports may wait for a slow relay.
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

    /// Sends until cancelled.
    func run() async throws {
        defer { link.close() }
        while true {
            try Task.checkCancellation()
            guard !waiting.isEmpty else {
                if await parking.park() == .cancelled { throw CancellationError() }
                continue
            }
            let (tap, at) = waiting.removeFirst()
            let left = PhoneTap.patience - (loop.now - at)
            ended(tap.number, left > .zero ? await post(tap, within: left) : Self.late)
        }
    }

    private static let late = PhoneTap.Outcome.notSent(reason: "no answer in 5 s")

    private func post(_ tap: PhoneTap, within time: Duration) async -> PhoneTap.Outcome {
        let key = "\(phone)-\(tap.number)-\(tap.at.rfc3339)"
        let answer = await link.post(
            "/devices/\(percentEncoded(phone))/actions", tap.body, key: key, within: time)
        guard let answer else { return Self.late }
        // The phone cannot use an answer without an id.
        let view = try? JSONDocument(answer.body).root
        if answer.status == 202, let action = view?["action"]?.string {
            return .sent(action: action)
        }
        return .notSent(reason: view?["code"]?.string ?? "status \(answer.status)")
    }
}

extension PhoneTap {
    /// Body of the request to the relay
    package var body: [UInt8] {
        var body = JSONWriter()
        body.beginObject()
        if let activity { body.member("activity", activity) }
        if let widget { body.member("widget", widget) }
        if let config { body.member("config", config) }
        if let link { body.member("link", link) }
        if let intent { body.member("intent", intent) }
        if let parameters {
            body.name("parameters")
            body.raw(parameters)
        }
        body.member("at", at.rfc3339)
        body.endObject()
        return body.bytes
    }
}
