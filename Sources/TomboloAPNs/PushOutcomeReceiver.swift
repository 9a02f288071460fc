package import TomboloCore

/// Receives the outcomes of pushes and the capacity of an upstream.
///
/// Called on the loop's thread. May be called from within `APNsClient.send(_:)`: treat the call as
/// an input of the next turn.
package protocol PushOutcomeReceiver: AnyObject {
    /// Called exactly once for each push handed over.
    func pushEnded(_ outcome: PushOutcome)

    /// Tells how many pushes of the upstream may be without an outcome at once: 0 or more.
    func capacityChanged(upstream: UpstreamNumber, to capacity: Int)
}
