import CLinux
import Glibc

/// What a descriptor is ready for, without blocking.
package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let readable = Readiness(rawValue: 1)
    package static let writable = Readiness(rawValue: 2)
    /// The descriptor has an error, or the peer has closed both directions. Reported even if not
    /// requested.
    package static let failed = Readiness(rawValue: 4)
}

/// Gets the calls of a loop when a descriptor is ready.
package protocol ReadinessTarget: AnyObject {
    /// Called on the loop, in each turn as long as the descriptor is ready (level-triggered).
    func becameReady(_ readiness: Readiness)
}

/// The descriptors that an epoll instance watches, and their targets. After `close` the kernel
/// gives the same number to a new descriptor. So every registration has a generation number, which
/// epoll returns with its events. An event of an old registration therefore never reaches a new
/// one.
struct DescriptorRegistry {
    private struct Entry {
        var target: (any ReadinessTarget)?
        var generation: UInt32 = 0
        var interest: Readiness = []
    }

    private static let eventsMax = 256
    private static let wakeupMark = UInt64.max

    private let epoll: Int32
    private let events: EventBuffer
    private var entries: [Entry] = []
    private var eventCount = 0

    init(epoll: Int32) {
        self.epoll = epoll
        events = EventBuffer(capacity: Self.eventsMax)
    }

    mutating func addWakeup(_ descriptor: Int32) throws(LoopError) {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u64 = Self.wakeupMark
        try control(EPOLL_CTL_ADD, descriptor, &event)
    }

    mutating func register(
        _ descriptor: Int32, _ interest: Readiness, _ target: any ReadinessTarget
    ) throws(LoopError) {
        let index = Int(descriptor)
        while entries.count <= index { entries.append(Entry()) }
        precondition(entries[index].target == nil, "the descriptor is registered already")
        var event = event(for: descriptor, interest)
        try control(EPOLL_CTL_ADD, descriptor, &event)
        entries[index].target = target
        entries[index].interest = interest
    }

    mutating func modify(_ descriptor: Int32, _ interest: Readiness) {
        let index = Int(descriptor)
        guard index < entries.count, entries[index].target != nil,
            entries[index].interest != interest
        else { return }
        entries[index].interest = interest
        var event = event(for: descriptor, interest)
        // This cannot fail, because the descriptor is registered and open.
        _ = epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event)
    }

    mutating func deregister(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard index < entries.count, entries[index].target != nil else { return }
        entries[index].target = nil
        entries[index].generation &+= 1
        var event = epoll_event()
        _ = epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event)
    }

    /// Waits for a descriptor or the end of the time. Returns true if another thread woke the loop.
    mutating func wait(nanoseconds: Int64) -> Bool {
        // A negative count means that a signal interrupted the wait: no descriptor is ready.
        eventCount = max(
            0,
            Int(
                tombolo_epoll_wait(
                    epoll, events.base, Int32(Self.eventsMax), nanoseconds)))
        return (0..<eventCount).contains { events.base[$0].data.u64 == Self.wakeupMark }
    }

    /// Target and readiness of one event of the last `wait`. nil if the target was deregistered
    /// since then.
    func target(at position: Int) -> (target: any ReadinessTarget, readiness: Readiness)? {
        let event = events.base[position]
        let mark = event.data.u64
        guard mark != Self.wakeupMark else { return nil }
        let entry = entries[Int(mark & 0xffff_ffff)]
        guard let target = entry.target, entry.generation == UInt32(mark >> 32) else { return nil }
        var readiness: Readiness = []
        if event.events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 {
            readiness.insert(.readable)
        }
        if event.events & EPOLLOUT.rawValue != 0 { readiness.insert(.writable) }
        if event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
            readiness.insert(.failed)
        }
        return (target, readiness)
    }

    var readyCount: Int { eventCount }

    private func event(for descriptor: Int32, _ interest: Readiness) -> epoll_event {
        var event = epoll_event()
        if interest.contains(.readable) { event.events |= EPOLLIN.rawValue }
        if interest.contains(.writable) { event.events |= EPOLLOUT.rawValue }
        let generation = entries[Int(descriptor)].generation
        event.data.u64 = UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
        return event
    }

    private func control(
        _ operation: Int32, _ descriptor: Int32, _ event: inout epoll_event
    ) throws(LoopError) {
        guard epoll_ctl(epoll, operation, descriptor, &event) == 0 else {
            throw LoopError(call: "epoll_ctl", errno: errno)
        }
    }
}

/// Memory for the events that epoll returns.
private final class EventBuffer {
    let base: UnsafeMutablePointer<epoll_event>

    init(capacity: Int) { base = .allocate(capacity: capacity) }

    deinit { base.deallocate() }
}
