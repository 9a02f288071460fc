package import TomboloCore
import TomboloLoop

// Channels are procedures of several steps: Apple makes one, then it goes on record, and only then
// is it there.

extension Relay {
    /// Makes the channels that the core asks for, one after the other, until it is cancelled.
    package func makeChannels() async {
        while !Task.isCancelled {
            guard let lane = channelWishes.first else {
                if await channelMaking.park() == .cancelled { return }
                continue
            }
            channelWishes.removeFirst()
            await makeChannel(in: lane)
        }
    }

    func wish(_ lanes: [LaneNumber]) {
        channelWishes += lanes
        channelMaking.unpark()
        // Nobody would answer.
        guard channels == nil else { return }
        for lane in channelWishes { put(.channel(.notMade(lane), nil)) }
        channelWishes = []
    }

    private func makeChannel(in lane: LaneNumber) async {
        guard let channels else { return }
        let app = core.configuration.apps[Int(lane.rawValue)]
        do throws(ChannelFailure) {
            let id = try await channels.create(.mostRecent, in: lane)
            put(
                .channel(
                    .made(
                        Channel(
                            tenant: app.tenant, app: app.id, environment: app.environment,
                            name: nil, id: id, storage: .mostRecent)), nil))
        } catch {
            put(.channel(.notMade(lane), nil))
        }
    }

    /// What became of a channel at Apple; answered when it is on record.
    package func submit(_ command: ChannelCommand) async -> Answer {
        await ask { .channel(command, $0) }
    }

    /// A named channel.
    package func channel(_ key: ChannelKey) -> Channel? { core.channel(key) }

    /// A tenant's named channels, in the order of their making.
    package func channels(of tenant: TenantID) -> [Channel] { core.channels(of: tenant) }

    /// All that this relay has made in a lane, named or its own.
    package func channelIDs(in lane: LaneNumber) -> [String] { core.channelIDs(in: lane) }

    /// The running activity that a channel carries.
    package func activity(on key: ChannelKey) -> Identifier? { core.activity(on: key) }

    /// A tenant's lanes with their apps; `app` nil: all of them.
    package func lanes(
        of tenant: TenantID, app: String?, environment: APNsEnvironment?
    ) -> [(lane: LaneNumber, app: CoreConfiguration.App)] {
        core.configuration.apps.enumerated().compactMap { index, known in
            guard known.tenant == tenant, app == nil || app == known.id,
                environment == nil || environment == known.environment
            else { return nil }
            return (LaneNumber(Int32(index)), known)
        }
    }

    /// Lets widgets or a control ask for what is new.
    package func reload(_ request: ReloadRequest, of tenant: TenantID) async -> Answer {
        await ask { .reload(request, tenant, $0) }
    }
}
