import TomboloContract
import TomboloJSON
import TomboloLoop

/// Simulates a widget extension: fetches timelines and snapshots, one after the other, with the
/// device's own key.
final class WidgetFetcher: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let phone: PhoneConfiguration
    private let relay: SimulatorConfiguration.Relay
    private let loop: EpollLoop
    private let parking: Parking
    /// Connection with the simulator's key.
    private let backend: RelayLink
    /// Connection with the device's own key; nil if no key was made yet.
    private var own: RelayLink?
    /// The signed-in user; nil if there is none.
    private var user: String?
    private var waiting: [Job] = []
    /// Called with the outcome of each fetch.
    var ended: (Widget.Key, WidgetFetchOutcome) -> Void = { _, _ in }
    /// Called with the snapshot of each family of a gallery.
    var snapped: (Int, Widget.Family, Widget.Entry?) -> Void = { _, _, _ in }

    private enum Job {
        case timeline(Widget)
        case snapshot(WidgetGallery, Widget.Family)
    }

    /// Time to wait for an answer. The system also ends an extension that takes too long.
    private static let answerTimeMax: Duration = .seconds(10)
    /// Lifetime of the device's key; after it, a new one is made.
    private static let keyTime = "24h"

    init(
        _ phone: PhoneConfiguration, relay: SimulatorConfiguration.Relay, loop: EpollLoop
    ) throws {
        (self.phone, self.relay, self.loop) = (phone, relay, loop)
        parking = Parking(loop)
        user = phone.user
        backend = try RelayLink(relay, loop: loop)
    }

    func fetch(_ widget: Widget) {
        waiting.append(.timeline(widget))
        parking.unpark()
    }

    func open(_ gallery: WidgetGallery) {
        waiting += gallery.families.map { .snapshot(gallery, $0) }
        parking.unpark()
    }

    /// Fetches until the task is cancelled.
    func run() async throws {
        defer {
            backend.close()
            own?.close()
        }
        while true {
            try Task.checkCancellation()
            guard !waiting.isEmpty else {
                if await parking.park() == .cancelled { throw CancellationError() }
                continue
            }
            switch waiting.removeFirst() {
            case .timeline(let widget):
                ended(widget.key, await timeline(of: widget))
            case .snapshot(let gallery, let family):
                snapped(gallery.number, family, await snapshot(gallery.kind, family))
            }
        }
    }

    private func timeline(of widget: Widget) async -> WidgetFetchOutcome {
        var query = "?family=\(widget.key.family.rawValue)"
        if let config = widget.key.config { query += "&config=\(PathSegment.encoded(config))" }
        let path = "/timelines/\(PathSegment.encoded(widget.key.kind))/entries\(query)"
        guard let answer = await get(path, etag: widget.etag) else { return .failed }
        switch answer.status {
        case 200:
            return WidgetTimeline(answer.body, etag: answer.etag).map { .timeline($0) } ?? .failed
        case 304: return .unchanged
        // The widget's configured item does not exist, or this user may not see it.
        case 404: return .timeline(.empty)
        default: return .failed
        }
    }

    private func snapshot(_ kind: String, _ family: Widget.Family) async -> Widget.Entry? {
        let path = "/timelines/\(PathSegment.encoded(kind))/snapshot?family=\(family.rawValue)"
        guard let answer = await get(path, etag: nil), answer.status == 200 else { return nil }
        return WidgetTimeline(answer.body, etag: nil)?.entries.first
    }

    private func get(_ path: String, etag: String?) async -> RelayLink.Answer? {
        guard let link = await link() else { return nil }
        let answer = await link.get(path, etag: etag, within: Self.answerTimeMax)
        let isFormer =
            answer?.status == 403
            && ["key-of-former-user", "key-not-signed-in"].contains(answer?.code)
        guard answer?.status == 401 || isFormer, link !== backend else { return answer }
        // The relay refused the key, so the app's backend makes one for the device's current user.
        if isFormer { await askWhoHasDevice() }
        own?.close()
        own = nil
        return await self.link()?.get(path, etag: etag, within: Self.answerTimeMax)
    }

    private func askWhoHasDevice() async {
        let path = "/devices/\(PathSegment.encoded(phone.name))"
        let answer = await backend.get(path, etag: nil, within: Self.answerTimeMax)
        // If no answer comes, the user is assumed to be the same.
        guard let answer, answer.status == 200, let view = try? JSONDocument(answer.body).root
        else { return }
        user = view["user"]?.string
    }

    /// Returns a connection with the device's key, which the app's backend makes when a user signs
    /// in. If the backend may not make keys, returns the connection with the simulator's own key.
    private func link() async -> RelayLink? {
        if let own { return own }
        let body = JSON.object { body in
            body.array("scopes") { $0.string("device:" + phone.name) }
            if let user { body.member("user", user) }
            body.member("app", phone.bundleID)
            body.member("name", "simulated " + phone.name)
            body.member("expires_in", Self.keyTime)
        }
        guard let answer = await backend.post("/keys", body.bytes, within: Self.answerTimeMax)
        else { return nil }
        // The answer has no key, so the backend may not make keys.
        guard let key = (try? JSONDocument(answer.body))?.root["key"]?.string else {
            return backend
        }
        var relay = relay
        relay.key = key
        // This cannot fail: the origin was already parsed.
        own = try? RelayLink(relay, loop: loop)
        return own
    }
}
