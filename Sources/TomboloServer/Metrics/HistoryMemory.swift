import TomboloAPI
import TomboloCore
import TomboloRelay

/// The last 60 minutes of the whole relay, and of the tenants that were busy, in memory.
///
/// It is fed with totals every ten seconds and keeps what changed between two of them. At most
/// `tracksMax` tenants have a track: for another one, the track of the tenant that was idle for the
/// longest time is dropped. So it never takes more than `bytesMax`.
struct HistoryMemory: Sendable {
    /// Time between two points.
    static let step = Span.seconds(10)
    /// Points of one track: 60 minutes.
    static let pointsMax = 360
    /// Tenants with a track of their own.
    static let tracksMax = 24
    /// What all tracks take at most: 400 kB.
    static let bytesMax = 400_000

    /// Totals since the process began, and what is true now.
    struct Totals: Sendable {
        var accepted: Int64 = 0
        var refused: Int64 = 0
        var sent: Int64 = 0
        /// Destinations where a change waits.
        var waiting = 0
        /// Times from event to Apple's answer.
        var answered = DurationHistogram()
        var closed = 0
        /// CPU time and memory of the process; 0 for a tenant.
        var cpuSeconds = 0.0
        var residentBytes: Int64 = 0
    }

    private struct Track: Sendable {
        var points: [HistoryAnswer.Point] = []
        /// Place of the oldest point once the track is full.
        var oldest = 0
        var last: Totals
        var lastAt: Instant
        var busyAt: Instant

        mutating func add(_ totals: Totals, at now: Instant) {
            let seconds = (now - lastAt).seconds
            var point = HistoryAnswer.Point(at: now)
            point.accepted = UInt32(clamping: totals.accepted - last.accepted)
            point.refused = UInt32(clamping: totals.refused - last.refused)
            point.sent = UInt32(clamping: totals.sent - last.sent)
            point.waiting = UInt32(clamping: totals.waiting)
            point.closed = UInt32(clamping: totals.closed)
            point.median = Self.milliseconds(totals.answered.quantile(0.5, since: last.answered))
            point.p99 = Self.milliseconds(totals.answered.quantile(0.99, since: last.answered))
            if seconds > 0 {
                point.cpu = Float(max(0, totals.cpuSeconds - last.cpuSeconds) / seconds)
            }
            point.residentKiB = UInt32(clamping: totals.residentBytes / 1_024)
            if point.accepted > 0 || point.refused > 0 || point.sent > 0 { busyAt = now }
            if points.count < HistoryMemory.pointsMax {
                points.append(point)
            } else {
                points[oldest] = point
                oldest = (oldest + 1) % HistoryMemory.pointsMax
            }
            (last, lastAt) = (totals, now)
        }

        private static func milliseconds(_ time: Span?) -> Float {
            time.map { Float($0.seconds * 1_000) } ?? -1
        }

        var inOrder: [HistoryAnswer.Point] { Array(points[oldest...] + points[..<oldest]) }
    }

    private var whole: Track?
    private var tracks: [TenantID: Track] = [:]

    /// Adds a point of the whole relay, and one of each tenant.
    mutating func add(_ totals: Totals, of tenants: [TenantID: Totals], at now: Instant) {
        whole = Self.adding(totals, to: whole, at: now)
        for (tenant, totals) in tenants.sorted(by: { $0.key < $1.key }) {
            if let track = tracks[tenant] {
                tracks[tenant] = Self.adding(totals, to: track, at: now)
            } else if totals.accepted > 0 || totals.refused > 0 || totals.sent > 0 {
                makeRoom()
                tracks[tenant] = Self.adding(totals, to: nil, at: now)
            }
        }
    }

    private mutating func makeRoom() {
        guard tracks.count >= Self.tracksMax else { return }
        let idle = tracks.min { ($0.value.busyAt, $0.key) < ($1.value.busyAt, $1.key) }
        if let idle { tracks[idle.key] = nil }
    }

    private static func adding(_ totals: Totals, to track: Track?, at now: Instant) -> Track {
        guard var track else { return Track(last: totals, lastAt: now, busyAt: now) }
        track.add(totals, at: now)
        return track
    }

    /// The points since `moment`, oldest first: of a tenant, or of the whole relay for nil.
    func points(of tenant: TenantID?, since moment: Instant) -> [HistoryAnswer.Point] {
        let track = tenant.map { tracks[$0] } ?? whole
        return track?.inOrder.filter { Int64($0.seconds) > moment.seconds } ?? []
    }
}
