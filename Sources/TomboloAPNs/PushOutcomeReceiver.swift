package import TomboloCore

/// Who is told what became of pushes, and how many a lane takes.
///
/// Called on the loop's thread. May be called from within `APNsClient.send(_:)`: take the call as
/// an input of the next turn and decide there.
package protocol PushOutcomeReceiver: AnyObject {
    /// Exactly once for each push handed over.
    func pushEnded(_ outcome: PushOutcome)

    /// How many pushes of the lane may be without an outcome at once, from now on: 0 or more.
    func capacityChanged(lane: LaneNumber, to capacity: Int)
}
