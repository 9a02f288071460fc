package import TomboloCore

/// Creates broadcast channels at Apple or at a simulator. Called on the relay's loop.
package protocol ChannelService: AnyObject, Sendable {
    /// Creates a channel, and returns its id.
    func create(
        _ storage: Channel.Storage, in upstream: UpstreamNumber
    ) async throws(ChannelFailure) -> String
    /// Storage policy of a channel; nil if there is no such channel.
    func read(_ id: String, in upstream: UpstreamNumber) async throws(ChannelFailure) -> Channel
        .Storage?
    /// Deletes a channel permanently. Succeeds if there is no such channel.
    func delete(_ id: String, in upstream: UpstreamNumber) async throws(ChannelFailure)
    /// The ids of all channels of the upstream's app, including those that others created.
    func list(in upstream: UpstreamNumber) async throws(ChannelFailure) -> [String]
}
