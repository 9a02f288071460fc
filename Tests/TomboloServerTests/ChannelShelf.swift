import TomboloCore
import TomboloRelay

/// Stands where Apple's channel service is. These are tests of the doors; the service itself is
/// spoken to over HTTP/2 with the simulator.
final class ChannelShelf: ChannelService, @unchecked Sendable {  // used on its loop only
    private var kept: [String: Channel.Storage] = [:]
    /// How often something was to be made or deleted.
    private(set) var asked = 0

    /// What happens while Apple is asked to delete one, and how it answers.
    var whileDeleting: (@Sendable () async -> ChannelFailure?)?

    /// Somebody else, or a crash, has left this one there.
    func leave(_ id: String) { kept[id] = .mostRecent }

    func create(
        _ storage: Channel.Storage, in upstream: UpstreamNumber
    ) async throws(ChannelFailure) -> String {
        asked += 1
        kept["channel-\(asked)"] = storage
        return "channel-\(asked)"
    }

    func read(
        _ id: String, in upstream: UpstreamNumber
    ) async throws(ChannelFailure) -> Channel.Storage? { kept[id] }

    func delete(_ id: String, in upstream: UpstreamNumber) async throws(ChannelFailure) {
        asked += 1
        if let failure = await whileDeleting?() { throw failure }
        kept[id] = nil
    }

    func list(in upstream: UpstreamNumber) async throws(ChannelFailure) -> [String] {
        kept.keys.sorted()
    }
}
