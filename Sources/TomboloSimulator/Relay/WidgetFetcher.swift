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
    /// Uses the simulator's key.
    private let backend: RelayLink
    /// Uses the device's own key; nil if none was made yet.
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

    /// Time to wait for an answer: the system ends a widget extension that takes longer.
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

    /// Fetches until cancelled.
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
        // The configured item is gone, or not visible to this user.
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
        let isFormer = answer?.status == 403 && answer?.code == "key-of-former-user"
        guard answer?.status == 401 || isFormer, link !== backend else { return answer }
        // The key is invalid: the app's backend makes a new one, for the device's current user.
        if isFormer { await askWhoHasDevice() }
        own?.close()
        own = nil
        return await self.link()?.get(path, etag: etag, within: Self.answerTimeMax)
    }

    private func askWhoHasDevice() async {
        let path = "/devices/\(PathSegment.encoded(phone.name))"
        let answer = await backend.get(path, etag: nil, within: Self.answerTimeMax)
        // Without an answer the user stays the same.
        guard let answer, answer.status == 200, let view = try? JSONDocument(answer.body).root
        else { return }
        user = view["user"]?.string
    }

    /// Returns a link with the device's key, which the app's backend makes when the user signs in.
    /// If it may not make keys, the simulator's own key is used.
    private func link() async -> RelayLink? {
        if let own { return own }
        var body = JSONWriter()
        body.beginObject()
        body.name("scopes")
        body.beginArray()
        body.string("device:" + phone.name)
        body.endArray()
        if let user { body.member("user", user) }
        body.member("app", phone.bundleID)
        body.member("name", "simulated " + phone.name)
        body.member("expires_in", Self.keyTime)
        body.endObject()
        guard let answer = await backend.post("/keys", body.bytes, within: Self.answerTimeMax)
        else { return nil }
        // No key in the answer: the backend may not make keys.
        guard let key = (try? JSONDocument(answer.body))?.root["key"]?.string else {
            return backend
        }
        var relay = relay
        relay.key = key
        // The origin was already parsed successfully.
        own = try? RelayLink(relay, loop: loop)
        return own
    }
}
