package import TomboloCore

/// Where broadcast channels are made: Apple, or whoever stands in. It is called on the relay's
/// loop.
package protocol ChannelService: AnyObject, Sendable {
    /// Makes a channel of a lane's app; answers its id.
    func create(
        _ storage: Channel.Storage, in lane: LaneNumber
    ) async throws(ChannelFailure) -> String
    /// What a channel keeps; nil where it is not there.
    func read(_ id: String, in lane: LaneNumber) async throws(ChannelFailure) -> Channel.Storage?
    /// Deletes a channel for good; one that is not there is deleted.
    func delete(_ id: String, in lane: LaneNumber) async throws(ChannelFailure)
    /// The ids of all channels of the lane's app, whoever made them.
    func list(in lane: LaneNumber) async throws(ChannelFailure) -> [String]
}
