import TomboloLoop

/// The app on one phone as a client of the relay: tells it what happened until it knows.
final class PhoneClient: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private var reports: PhoneReports
    private let link: RelayLink
    private let loop: any Loop
    private let wallClock: @Sendable () -> WallInstant
    private let line: @Sendable ([UInt8]) -> Void
    private let parking: Parking
    let taps: TapSender
    let fetcher: WidgetFetcher
    /// Whether the last attempt found nobody: an outage is told once.
    private var isRelayGone = false

    /// The device, its tokens and its presence are told again this often: a relay may have lost
    /// them, and a presence lapses after 90 s.
    private static let refreshSpacing: Duration = .seconds(30)

    init(
        _ reports: PhoneReports, link: RelayLink, taps: TapSender, fetcher: WidgetFetcher,
        loop: any Loop,
        wallClock: @escaping @Sendable () -> WallInstant,
        line: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.reports = reports
        self.link = link
        self.taps = taps
        self.fetcher = fetcher
        self.loop = loop
        self.wallClock = wallClock
        self.line = line
        parking = Parking(loop)
    }

    /// Something happened on the phone; it is told as soon as may be.
    func note(_ effect: PhoneEffect, at wall: WallInstant) {
        switch effect {
        case .tapped(let tap): taps.send(tap)
        case .widgetFetch(let widget): fetcher.fetch(widget)
        case .galleryOpened(let gallery): fetcher.open(gallery)
        default: break
        }
        reports.note(effect, at: loop.now, wall: wall)
        parking.unpark()
    }

    /// Tells the relay, until cancelled. A relay that is down or restarting delays, and loses
    /// nothing.
    func run() async throws {
        defer { link.close() }
        reports.introduce(at: loop.now, wall: wallClock())
        var refreshAt = loop.now + Self.refreshSpacing
        while true {
            try Task.checkCancellation()
            if loop.now >= refreshAt {
                refreshAt = loop.now + Self.refreshSpacing
                reports.refresh(at: loop.now)
            }
            if let upload = reports.queue.next(at: loop.now) {
                await send(upload)
            } else {
                let until = min(refreshAt, reports.queue.deadline ?? refreshAt)
                if await parking.park(until: until) == .cancelled { throw CancellationError() }
            }
        }
    }

    private func send(_ upload: UploadQueue.Upload) async {
        let connections = link.connectionsMade
        let outcome = await link.put(upload.path, upload.body)
        reports.queue.ended(upload, outcome, at: loop.now)
        tell(outcome, of: upload)
        if upload.kind == .device, case .answered(let status) = outcome,
            [400, 403, 422].contains(status)
        {
            _ = reports.giveUpBudgetClass(at: loop.now)
        }
        // The relay found on a new connection may have started with less than it had.
        if connections > 0, link.connectionsMade > connections {
            reports.refresh(at: loop.now)
        }
    }

    private func tell(_ outcome: UploadQueue.Outcome, of upload: UploadQueue.Upload) {
        var status: Int?
        switch outcome {
        case .answered(let answered):
            isRelayGone = false
            guard answered >= 300 else { return }
            status = answered
        case .unreachable:
            guard !isRelayGone else { return }
            isRelayGone = true
        }
        line(
            SimulatorLine.untold(
                phone: reports.configuration.name, path: upload.path, status: status,
                at: wallClock()))
    }
}
