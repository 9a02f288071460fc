import TomboloContract
import TomboloLoop

/// The app on one phone as a client of the relay: it retries reports until the relay has them.
final class PhoneClient: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let name: String
    private var app: SimulatedApp
    private let link: RelayLink
    private let loop: any Loop
    private let wallClock: @Sendable () -> WallInstant
    private let line: @Sendable ([UInt8]) -> Void
    private let parking: Parking
    let taps: TapSender
    let fetcher: WidgetFetcher
    /// False while the phone has no network: its reports wait.
    var isOnline = true {
        didSet { if isOnline != oldValue { parking.unpark() } }
    }
    /// True if the last attempt did not reach the relay. An outage is then logged only once.
    private var isRelayGone = false

    /// Interval at which device, tokens and presence are sent again: a relay may have lost them,
    /// and a presence expires after 90 s.
    private static let refreshSpacing: Duration = .seconds(30)

    init(
        _ name: String, _ app: SimulatedApp, link: RelayLink, taps: TapSender,
        fetcher: WidgetFetcher,
        loop: any Loop,
        wallClock: @escaping @Sendable () -> WallInstant,
        line: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.name = name
        self.app = app
        self.link = link
        self.taps = taps
        self.fetcher = fetcher
        self.loop = loop
        self.wallClock = wallClock
        self.line = line
        parking = Parking(loop)
    }

    /// Takes an effect of the phone, and reports the effect to the relay as soon as possible.
    func note(_ effect: PhoneEffect, at wall: WallInstant) {
        switch effect {
        case .tapped(let tap): taps.send(tap)
        case .widgetFetch(let widget): fetcher.fetch(widget)
        case .galleryOpened(let gallery): fetcher.open(gallery)
        default: break
        }
        app.note(effect, at: loop.now, wall: wall)
        parking.unpark()
    }

    /// Sends reports until the task is cancelled. If the relay is down, none is lost.
    func run() async throws {
        defer { link.close() }
        app.introduce(at: loop.now, wall: wallClock())
        var refreshAt = loop.now + Self.refreshSpacing
        while true {
            try Task.checkCancellation()
            if loop.now >= refreshAt {
                refreshAt = loop.now + Self.refreshSpacing
                app.refresh(at: loop.now)
            }
            if isOnline, let upload = app.next(at: loop.now) {
                await send(upload)
            } else {
                let next = isOnline ? app.deadline : nil
                let until = min(refreshAt, next ?? refreshAt)
                if await parking.park(until: until) == .cancelled { throw CancellationError() }
            }
        }
    }

    private func send(_ upload: UploadQueue.Upload) async {
        let connections = link.connectionsMade
        let outcome = await link.put(upload.path, upload.body)
        app.answered(upload, outcome, at: loop.now)
        tell(outcome, of: upload)
        // The connection is new, so the relay may have restarted with older data.
        if connections > 0, link.connectionsMade > connections {
            app.refresh(at: loop.now)
        }
    }

    private func tell(_ outcome: UploadQueue.Outcome, of upload: UploadQueue.Upload) {
        var status: Int?
        switch outcome {
        case .answered(let answered, _):
            isRelayGone = false
            guard answered >= 300 else { return }
            status = answered
        case .unreachable:
            guard !isRelayGone else { return }
            isRelayGone = true
        }
        line(
            SimulatorLine.untold(
                phone: name, path: upload.path, status: status,
                at: wallClock()))
    }
}
