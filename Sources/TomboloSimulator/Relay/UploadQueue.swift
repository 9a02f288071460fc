package import TomboloLoop

/// The uploads of one phone to the relay: only the newest value of each resource, retried until the
/// relay accepts it.
///
/// A pure state machine: it decides what to send next and when; its caller sends. Only one upload
/// is under way at a time. Nothing else is sent until the relay knows the device.
package struct UploadQueue: Sendable {
    /// Kind of a resource. Of due resources, the lower kind is sent first.
    package enum Kind: Int, Comparable, Sendable {
        case device, token, presence, report

        package static func < (one: Kind, other: Kind) -> Bool { one.rawValue < other.rawValue }

        /// Least time between two uploads of one resource: at most one report a second.
        var spacing: Duration { self == .report ? .seconds(1) : .zero }
    }

    /// One request, which needs an answer of 2xx.
    package struct Upload: Hashable, Sendable {
        /// The path below `/v1`.
        package var path: String
        package var body: [UInt8]
        package var kind: Kind
        fileprivate var generation: UInt64
    }

    /// Outcome of an attempt.
    package enum Outcome: Hashable, Sendable {
        case answered(status: Int)
        /// No connection, or no answer in time.
        case unreachable
    }

    private enum State {
        case waiting(until: MonotonicInstant)
        case underWay
        case done
    }

    private struct Entry {
        var body: [UInt8]
        var kind: Kind
        var generation: UInt64
        /// This is the resource's last value: it is forgotten once the relay has it.
        var isLast: Bool
        var state: State
        var failures = 0
        var sentAt: MonotonicInstant?
    }

    private var entries: [String: Entry] = [:]
    /// Paths in the order in which they were added.
    private var order: [String] = []
    private var generations: UInt64 = 0

    /// Most resources of one phone. Beyond this, the oldest report is dropped.
    package static let resourcesMax = 4_096
    /// Most attempts to send a report that the relay refuses. The next change is sent again.
    package static let refusedReportsMax = 8
    /// The first wait after a failure; it doubles.
    package static let backOffMin: Duration = .milliseconds(100)
    /// The longest wait while the relay is unreachable. A restarted relay is found within it.
    package static let unreachableBackOffMax: Duration = .seconds(2)
    /// The longest wait while the relay refuses.
    package static let refusedBackOffMax: Duration = .seconds(30)

    package init() {}

    package var count: Int { entries.count }

    /// Sets the value of a resource. `isLast` means that it will not change again.
    package mutating func put(
        _ path: String, _ kind: Kind, _ body: [UInt8], isLast: Bool = false,
        at now: MonotonicInstant
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
        entries.values[index].body = body
        entries.values[index].generation = generations
        entries.values[index].isLast = isLast
        if case .done = entries.values[index].state {
            let sentAt = entries.values[index].sentAt
            let earliest = sentAt.map { $0 + kind.spacing } ?? now
            entries.values[index].state = .waiting(until: max(now, earliest))
            entries.values[index].failures = 0
        }
    }

    /// Removes a resource that no longer exists, so that it is not sent.
    package mutating func forget(_ path: String) {
        guard entries.removeValue(forKey: path) != nil else { return }
        order.removeAll { $0 == path }
    }

    /// Sends tokens and presence again, because the relay may have lost them. The device itself is
    /// sent only if the relay answers that it is unknown; otherwise it keeps values that other
    /// clients set, such as its user.
    package mutating func refresh(at now: MonotonicInstant) {
        for path in order
        where entries[path].map({ $0.kind == .token || $0.kind == .presence }) == true {
            if case .done = entries[path]?.state { entries[path]?.state = .waiting(until: now) }
        }
    }

    /// Takes the upload to send now; nil if nothing is due. Report its outcome with `ended`.
    package mutating func next(at now: MonotonicInstant) -> Upload? {
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
            path: path, body: entry.body, kind: entry.kind, generation: entry.generation)
    }

    /// Takes the outcome of an upload.
    package mutating func ended(_ upload: Upload, _ outcome: Outcome, at now: MonotonicInstant) {
        guard var entry = entries[upload.path] else { return }
        let isNewest = entry.generation == upload.generation
        switch outcome {
        case .answered(200..<300):
            entry.failures = 0
            entry.state =
                isNewest ? .done : .waiting(until: (entry.sentAt ?? now) + entry.kind.spacing)
            if isNewest, entry.isLast { return forget(upload.path) }
        case .answered(let status):
            entry.failures += 1
            entry.state = .waiting(until: now + Self.backOff(entry.failures, refused: true))
            // The relay no longer knows the device: send it again.
            if status == 404 { hasDeviceToIntroduce(at: now) }
            if entry.kind == .report, isNewest, entry.failures >= Self.refusedReportsMax {
                if entry.isLast { return forget(upload.path) }
                entry.state = .done
            }
        case .unreachable:
            entry.failures += 1
            entry.state = .waiting(until: now + Self.backOff(entry.failures, refused: false))
        }
        entries[upload.path] = entry
    }

    /// When the next upload is due; nil if none waits.
    package var deadline: MonotonicInstant? {
        let waiting = isDeviceUnknown ? entries.values.filter { $0.kind == .device } : nil
        return (waiting ?? Array(entries.values)).compactMap { entry in
            if case .waiting(let until) = entry.state { until } else { nil }
        }.min()
    }

    // MARK: -

    private var isDeviceUnknown: Bool {
        entries.values.contains { entry in
            if entry.kind == .device, case .waiting = entry.state { true } else { false }
        }
    }

    private func isDue(_ entry: Entry, at now: MonotonicInstant) -> Bool {
        if case .waiting(let until) = entry.state { until <= now } else { false }
    }

    private mutating func hasDeviceToIntroduce(at now: MonotonicInstant) {
        for path in order where entries[path]?.kind == .device {
            if case .done = entries[path]?.state { entries[path]?.state = .waiting(until: now) }
        }
    }

    private mutating func forgetOldestReport() {
        if let path = order.first(where: { entries[$0]?.kind == .report }) { forget(path) }
    }

    private static func backOff(_ failures: Int, refused: Bool) -> Duration {
        let most = refused ? refusedBackOffMax : unreachableBackOffMax
        return min(most, backOffMin * (1 << min(failures - 1, 12)))
    }
}
