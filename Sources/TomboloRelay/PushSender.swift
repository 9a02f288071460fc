package import TomboloCore

/// Sends pushes to Apple or to a simulator. It must report each push's outcome exactly once with
/// `Relay.pushEnded`, within a limited time. It must report with `Relay.capacityChanged` how many
/// pushes of an upstream may be in flight. It need not keep the order of pushes, and need not
/// retry. All calls in both directions are on the relay's loop.
package protocol PushSender: AnyObject, Sendable {
    /// Takes one push. Its outcome may be reported later or during this call.
    func send(_ push: Push)
}
