/// The uploads of one app to the relay: only the newest value of each resource, retried until the
/// relay accepts it.
///
/// A pure state machine: it decides what to send next and when, and its caller sends it. Only one
/// upload is under way at a time. If the relay does not know the device, only the device is sent.
/// Times are durations since any origin that stays the same while the process runs.
///
/// Taps do not go through the queue: an answer that comes later than `Tap.patience` is useless.
public struct UploadQueue: Sendable {
    /// Kind of a resource. If several are due, the lowest kind is sent first.
    public enum Kind: Int, Comparable, Sendable {
        case device, token, presence, report

        public static func < (one: Kind, other: Kind) -> Bool { one.rawValue < other.rawValue }

        /// Minimum time between two uploads of one resource: at most one report a second.
        var spacing: Duration { self == .report ? .seconds(1) : .zero }
    }

    /// One `PUT` request, which needs an answer of 2xx.
    public struct Upload: Hashable, Sendable {
        /// The path below `/v1`.
        public var path: String
        public var body: [UInt8]
        public var kind: Kind
        fileprivate var generation: UInt64
        /// Which key it was sent with.
        fileprivate var keyNumber: UInt64
    }

    /// Outcome of an attempt.
    public enum Outcome: Hashable, Sendable {
        /// `code` is the `code` of the problem in the answer; nil if the answer is no problem. If
        /// the app has no key, it passes in 401.
        case answered(status: Int, code: String? = nil)
        /// No connection, or no answer in time.
        case unreachable
    }

    enum State: Equatable {
        case waiting(until: Duration)
        case underWay
        /// Tried for `retryTimeMax` without success. It waits for `resume`.
        case resting
        case done
    }

    struct Entry {
        var body: [UInt8]
        var kind: Kind
        var generation: UInt64
        /// True if this is the resource's last value. It is removed once the relay has it.
        var isLast: Bool
        var state: State
        var failures = 0
        /// How often the relay has refused this value permanently.
        var refusals = 0
        var failedSince: Duration?
        var sentAt: Duration?
    }

    var entries: [String: Entry] = [:]
    /// Paths in the order in which they were added.
    var order: [String] = []
    private var generations: UInt64 = 0
    private var keyNumber: UInt64 = 0
    /// True once the relay has taken the device, also in a former process. While it does not know
    /// the device, only the device is sent.
    var isDeviceKnown = false
    /// True if the app has no key that the relay accepts. Nothing is sent until `keyArrived`.
    public private(set) var isKeyRefused = false

    /// Maximum number of resources of a device. If more come, the oldest report is dropped.
    public static let resourcesMax = 4_096
    /// Maximum number of attempts to send a report that is refused. A later change is sent again.
    public static let refusedReportsMax = 8
    /// The first wait after a failure. Each further failure doubles it.
    public static let backOffMin: Duration = .milliseconds(100)
    /// The longest wait while the relay cannot be reached, so the longest delay after it is back.
    public static let unreachableBackOffMax: Duration = .seconds(2)
    /// The longest wait while the relay refuses an upload.
    public static let refusedBackOffMax: Duration = .seconds(30)
    /// How long sending a value is retried. After this, `resume` tries again: at a launch, when the
    /// app comes to the foreground, or when the network returns.
    public static let retryTimeMax: Duration = .seconds(2 * 3_600)

    /// An empty queue.
    public init() {}

    /// Number of resources, including those that the relay has.
    public var count: Int { entries.count }

    /// Number of resources that the relay does not have yet.
    public var waitingCount: Int { entries.values.count { $0.state != .done } }

    /// Paths of the resources of a kind, in the order in which they were added.
    ///
    /// - Parameter waiting: true for only those that the relay does not have yet.
    public func paths(of kind: Kind, waiting: Bool = false) -> [String] {
        order.filter { path in
            guard let entry = entries[path] else { return false }
            return entry.kind == kind && !(waiting && entry.state == .done)
        }
    }

    /// Sets the value of a resource. It replaces an older value that was not sent yet. A report
    /// that equals the previous one is not sent again.
    ///
    /// - Parameter isLast: true if the value will not change again.
    public mutating func put(
        _ path: String, _ kind: Kind, _ body: [UInt8], isLast: Bool = false, at now: Duration
    ) {
        generations += 1
        guard let index = entries.index(forKey: path) else {
            if entries.count >= Self.resourcesMax { forgetOldestReport() }
            entries[path] = Entry(
                body: body, kind: kind, generation: generations, isLast: isLast,
                state: .waiting(until: now))
            order.append(path)
            return
        }
        if kind == .report, !isLast, entries.values[index].body == body { return }
        entries.values[index].body = body
        entries.values[index].generation = generations
        entries.values[index].isLast = isLast
        entries.values[index].failedSince = nil
        entries.values[index].refusals = 0
        guard [.done, .resting].contains(entries.values[index].state) else { return }
        let earliest = entries.values[index].sentAt.map { $0 + kind.spacing } ?? now
        entries.values[index].state = .waiting(until: max(now, earliest))
        entries.values[index].failures = 0
    }

    /// The value of a resource will not change again, so it is removed once the relay has it.
    public mutating func finish(_ path: String) {
        entries[path]?.isLast = true
        if entries[path]?.state == .done { forget(path) }
    }

    /// Removes a resource that no longer exists, so that it is not sent.
    public mutating func forget(_ path: String) {
        guard entries.removeValue(forKey: path) != nil else { return }
        order.removeAll { $0 == path }
    }

    /// The user has signed out: removes all resources, and waits for another key.
    public mutating func signOut() { (entries, order, isKeyRefused) = ([:], [], true) }

    /// The app has a new key.
    public mutating func keyArrived(at now: Duration) {
        isKeyRefused = false
        keyNumber += 1
        resume(at: now)
    }

    /// Sends at once the uploads that wait after a failure, because the network may be back. If one
    /// fails again, it waits as long as before.
    public mutating func resume(at now: Duration) {
        for path in order {
            guard let entry = entries[path], entry.failures > 0 else { continue }
            switch entry.state {
            case .resting, .waiting: retry(path, at: now)
            case .underWay, .done: continue
            }
        }
    }

    /// Sends tokens and presence again, because the relay may have lost them, and retries resting
    /// uploads. The device itself is sent only if the relay answers that it is unknown, so that it
    /// keeps values that other clients set, such as the user.
    public mutating func refresh(at now: Duration) {
        for path in order {
            guard let entry = entries[path] else { continue }
            let isRefreshed = [.token, .presence].contains(entry.kind) && entry.state == .done
            if isRefreshed || entry.state == .resting { retry(path, at: now) }
        }
    }

    private mutating func retry(_ path: String, at now: Duration) {
        entries[path]?.state = .waiting(until: now)
        entries[path]?.failedSince = nil
    }

    /// Returns the upload to send now; nil if nothing is due. Report its outcome with `ended`.
    public mutating func next(at now: Duration) -> Upload? {
        guard !isKeyRefused else { return nil }
        var chosen: (path: String, entry: Entry)?
        for path in order {
            guard let entry = entries[path], isDue(entry, at: now) else { continue }
            if let best = chosen, best.entry.kind <= entry.kind { continue }
            chosen = (path, entry)
        }
        guard let (path, entry) = chosen else { return nil }
        if entry.kind != .device, isDeviceUnknown { return nil }
        entries[path]?.state = .underWay
        entries[path]?.sentAt = now
        return Upload(
            path: path, body: entry.body, kind: entry.kind, generation: entry.generation,
            keyNumber: keyNumber)
    }

    /// True if the upload was sent with the newest key.
    func hasNewestKey(_ upload: Upload) -> Bool { upload.keyNumber == keyNumber }

    /// Takes the outcome of an upload.
    public mutating func ended(_ upload: Upload, _ outcome: Outcome, at now: Duration) {
        guard var entry = entries[upload.path] else { return }
        let isNewest = entry.generation == upload.generation
        switch outcome {
        case .answered(200..<300, _):
            (entry.failures, entry.failedSince) = (0, nil)
            if entry.kind == .device { isDeviceKnown = true }
            entry.state =
                isNewest ? .done : .waiting(until: (entry.sentAt ?? now) + entry.kind.spacing)
            if isNewest, entry.isLast { return forget(upload.path) }
        case .answered(401, _), .answered(403, "key-of-former-user"):
            // A refusal of a former key says nothing about the newest one.
            if hasNewestKey(upload) { isKeyRefused = true }
            entry.state = .waiting(until: now)
        case .answered(403, "key-not-signed-in") where entry.kind != .device:
            // The device's own PUT signs the key's user in, and goes before all else.
            fail(&entry, mostWait: Self.refusedBackOffMax, at: now)
            introduceDevice(at: now)
        case .answered(let status, _):
            fail(&entry, mostWait: Self.refusedBackOffMax, at: now)
            // The relay no longer knows the device: send it again, and before all else.
            if status == 404, entry.kind != .device { introduceDevice(at: now) }
            // Other statuses say that the relay may take the same value later.
            if (400..<500).contains(status), ![408, 425, 429].contains(status) {
                entry.refusals += 1
            }
            if entry.kind == .report, isNewest, entry.refusals >= Self.refusedReportsMax {
                if entry.isLast { return forget(upload.path) }
                entry.state = .done
            }
        case .unreachable:
            fail(&entry, mostWait: Self.unreachableBackOffMax, at: now)
        }
        entries[upload.path] = entry
    }

    /// When the next upload is due; nil if none waits.
    public var deadline: Duration? {
        guard !isKeyRefused else { return nil }
        let mayGo = isDeviceUnknown ? entries.values.filter { $0.kind == .device } : nil
        return (mayGo ?? Array(entries.values)).compactMap { entry in
            if case .waiting(let until) = entry.state { until } else { nil }
        }.min()
    }

    // MARK: -

    private var isDeviceUnknown: Bool {
        !isDeviceKnown
            && entries.values.contains { entry in
                guard entry.kind == .device else { return false }
                switch entry.state {
                case .waiting, .resting: return true
                case .underWay, .done: return false
                }
            }
    }

    private func isDue(_ entry: Entry, at now: Duration) -> Bool {
        if case .waiting(let until) = entry.state { until <= now } else { false }
    }

    private func fail(_ entry: inout Entry, mostWait: Duration, at now: Duration) {
        entry.failures += 1
        let since = entry.failedSince ?? now
        entry.failedSince = since
        let backOff = min(mostWait, Self.backOffMin * (1 << min(entry.failures - 1, 12)))
        entry.state =
            now - since >= Self.retryTimeMax ? .resting : .waiting(until: now + backOff)
    }

    private mutating func introduceDevice(at now: Duration) {
        isDeviceKnown = false
        for path in order where entries[path]?.kind == .device {
            if entries[path]?.state == .done { entries[path]?.state = .waiting(until: now) }
        }
    }

    private mutating func forgetOldestReport() {
        if let path = order.first(where: { entries[$0]?.kind == .report }) { forget(path) }
    }
}
