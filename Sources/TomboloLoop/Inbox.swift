/// A bounded inbox: many put, one takes everything there is. Batches, never single elements.
///
/// For senders and taker on one loop; whoever comes from elsewhere hops there first, with a batch.
/// Senders that wait are woken in the order in which they came.
package final class Inbox<Element: Sendable>: @unchecked Sendable {
    // Sendable: used on the loop's thread only; `loop.checkIsolated()` guards its face.

    private let loop: any Loop
    private let capacity: Int
    private let taker: Parking
    private var elements: [Element] = []
    private var senders: [Parking] = []
    private var isClosed = false

    /// `capacity`: elements, at least 1. A batch that finds room is taken whole, so there may be
    /// one batch more than that.
    package init(_ loop: any Loop, capacity: Int) {
        precondition(capacity > 0)
        self.loop = loop
        self.capacity = capacity
        taker = Parking(loop)
    }

    package var count: Int { elements.count }

    /// Waits for room. Throws `CancellationError` if the task is cancelled meanwhile or the inbox
    /// closed.
    package func put(_ batch: [Element]) async throws {
        loop.checkIsolated()
        while elements.count >= capacity, !isClosed {
            let place = Parking(loop)
            senders.append(place)
            guard await place.park() == .signal else {
                senders.removeAll { $0 === place }
                throw CancellationError()
            }
        }
        guard !isClosed else { throw CancellationError() }
        elements.append(contentsOf: batch)
        taker.unpark()
    }

    /// Puts without waiting; false where there is no room, or the inbox is closed.
    package func offer(_ element: Element) -> Bool {
        loop.checkIsolated()
        guard elements.count < capacity, !isClosed else { return false }
        elements.append(element)
        taker.unpark()
        return true
    }

    /// Everything there is; waits for the first. Empty only when the deadline came first, or the
    /// inbox is closed and drained. Throws `CancellationError`.
    package func takeAll(until deadline: MonotonicInstant? = nil) async throws -> [Element] {
        loop.checkIsolated()
        while elements.isEmpty, !isClosed {
            switch await taker.park(until: deadline) {
            case .signal: continue
            case .deadline: return takeNow()
            case .cancelled: throw CancellationError()
            }
        }
        return takeNow()
    }

    /// Everything there is, without waiting.
    package func takeNow() -> [Element] {
        loop.checkIsolated()
        let taken = elements
        elements.removeAll()
        let waiting = senders
        senders.removeAll()
        for place in waiting { place.unpark() }
        return taken
    }

    /// No more is taken in; what is there may still be taken out.
    package func close() {
        loop.checkIsolated()
        isClosed = true
        let waiting = senders
        senders.removeAll()
        for place in waiting { place.unpark() }
        taker.unpark()
    }
}
