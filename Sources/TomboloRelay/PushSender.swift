package import TomboloCore

/// Where pushes go: Apple, or whoever stands in.
///
/// What it must do: answer every push exactly once by `Relay.pushEnded`, within a bounded time, and
/// tell by `Relay.capacityChanged` how many may be in flight in a lane. What it need not: keep an
/// order, or retry. It is called on the relay's loop, and calls back on it.
package protocol PushSender: AnyObject, Sendable {
    /// Hands one push over; its outcome comes later, or from within this call.
    func send(_ push: Push)
}
