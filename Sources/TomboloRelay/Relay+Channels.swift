package import TomboloCore
import TomboloLoop

// A channel is created in steps: Apple creates it, the log records it, then it can be used.

extension Relay {
    /// Creates the channels that the core requests, one by one, until the task is cancelled.
    package func makeChannels() async {
        while !Task.isCancelled {
            guard let upstream = channelWishes.first else {
                if await channelMaking.park() == .cancelled { return }
                continue
            }
            channelWishes.removeFirst()
            await makeChannel(in: upstream)
        }
    }

    func wish(_ upstreams: [UpstreamNumber]) {
        channelWishes += upstreams
        channelMaking.unpark()
        // If there is no channel service, every request fails now.
        guard channels == nil else { return }
        for upstream in channelWishes { put(.channel(.notMade(upstream), nil)) }
        channelWishes = []
    }

    private func makeChannel(in upstream: UpstreamNumber) async {
        guard let channels else { return }
        let app = core.configuration.apps[Int(upstream.rawValue)]
        do throws(ChannelFailure) {
            let id = try await channels.create(.mostRecent, in: upstream)
            put(
                .channel(
                    .made(
                        Channel(
                            tenant: app.tenant, app: app.id, environment: app.environment,
                            name: nil, id: id, storage: .mostRecent)), nil))
        } catch {
            put(.channel(.notMade(upstream), nil))
        }
    }

    /// Records the result of an operation on a channel at Apple. Returns when it is durable.
    package func submitChannelCommand(_ command: ChannelCommand) async -> Answer {
        await ask { .channel(command, $0) }
    }

    /// A named channel.
    package func channel(_ key: ChannelKey) -> Channel? { core.channel(key) }

    /// A tenant's named channels, in the order of their creation.
    package func channels(of tenant: TenantID) -> [Channel] { core.channels(of: tenant) }

    /// Ids of all channels that this relay created in an upstream: named ones, and those of private
    /// cards.
    package func channelIDs(in upstream: UpstreamNumber) -> [String] {
        core.channelIDs(in: upstream)
    }

    /// The running activity that uses a channel.
    package func activity(on key: ChannelKey) -> Identifier? { core.activity(on: key) }

    /// A tenant's upstreams with their apps. If `app` is nil, those of all apps.
    package func upstreams(
        of tenant: TenantID, app: String?, environment: APNsEnvironment?
    ) -> [(upstream: UpstreamNumber, app: CoreConfiguration.App)] {
        core.configuration.apps.enumerated().compactMap { index, known in
            guard known.tenant == tenant, app == nil || app == known.id,
                environment == nil || environment == known.environment
            else { return nil }
            return (UpstreamNumber(Int32(index)), known)
        }
    }

    /// Sends pushes that reload widgets or a control.
    package func reload(_ request: ReloadRequest, of tenant: TenantID) async -> Answer {
        await ask { .reload(request, tenant, $0) }
    }
}
