import TomboloJSON
import TomboloLoop

/// What a widget extension does: it fetches timelines and snapshots, one after the other, with a
/// key of its own device.
final class WidgetFetcher: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let phone: PhoneConfiguration
    private let relay: SimulatorConfiguration.Relay
    private let loop: EpollLoop
    private let parking: Parking
    /// With the key that the simulator was given.
    private let backend: RelayLink
    /// With the device's own key; nil: none was minted yet.
    private var own: RelayLink?
    /// Who has signed in; nil: nobody.
    private var user: String?
    private var waiting: [Job] = []
    /// Hears what became of each fetch.
    var ended: (Widget.Key, WidgetFetchOutcome) -> Void = { _, _ in }
    /// Hears of each family of a gallery.
    var snapped: (Int, Widget.Family, Widget.Entry?) -> Void = { _, _, _ in }

    private enum Job {
        case timeline(Widget)
        case snapshot(WidgetGallery, Widget.Family)
    }

    /// A widget extension is ended by the system if it takes longer.
    private static let answerTimeMax: Duration = .seconds(10)
    /// The device's key opens for a day; then it is minted anew.
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
        if let config = widget.key.config { query += "&config=\(percentEncoded(config))" }
        let path = "/timelines/\(percentEncoded(widget.key.kind))/entries\(query)"
        guard let answer = await get(path, etag: widget.etag) else { return .failed }
        switch answer.status {
        case 200:
            return WidgetTimeline(answer.body, etag: answer.etag).map { .timeline($0) } ?? .failed
        case 304: return .unchanged
        // What it is configured to is gone, or not for this user.
        case 404: return .timeline(.empty)
        default: return .failed
        }
    }

    private func snapshot(_ kind: String, _ family: Widget.Family) async -> Widget.Entry? {
        let path = "/timelines/\(percentEncoded(kind))/snapshot?family=\(family.rawValue)"
        guard let answer = await get(path, etag: nil), answer.status == 200 else { return nil }
        return WidgetTimeline(answer.body, etag: nil)?.entries.first
    }

    private func get(_ path: String, etag: String?) async -> RelayLink.Answer? {
        guard let link = await link() else { return nil }
        let answer = await link.get(path, etag: etag, within: Self.answerTimeMax)
        let isFormer = answer?.status == 403 && answer?.code == "key-of-former-user"
        guard answer?.status == 401 || isFormer, link !== backend else { return answer }
        // The key is over: the app's backend makes another, for the user who has the device.
        if isFormer { await askWhoHasDevice() }
        own?.close()
        own = nil
        return await self.link()?.get(path, etag: etag, within: Self.answerTimeMax)
    }

    private func askWhoHasDevice() async {
        let path = "/devices/\(percentEncoded(phone.name))"
        let answer = await backend.get(path, etag: nil, within: Self.answerTimeMax)
        // Without an answer it stays as it was.
        guard let answer, answer.status == 200, let view = try? JSONDocument(answer.body).root
        else { return }
        user = view["user"]?.string
    }

    /// The app's backend makes the device's key when its user signs in. Where it may not, the
    /// simulator's own key has to do.
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
        // An answer without a key is none.
        guard let key = (try? JSONDocument(answer.body))?.root["key"]?.string else {
            return backend
        }
        var relay = relay
        relay.key = key
        // Its origin was read once.
        own = try? RelayLink(relay, loop: loop)
        return own
    }
}
