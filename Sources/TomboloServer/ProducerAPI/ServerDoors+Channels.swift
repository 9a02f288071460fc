import TomboloAPI
import TomboloCore
import TomboloRelay

// Broadcast channels. A new channel is made at Apple, then recorded. A deletion is first recorded,
// so that no activity starts on the channel, then done at Apple; then the record is removed. After
// a crash in between, Apple may have an unknown channel, or a second DELETE is needed.

extension ServerDoors {
    func putChannel(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let key = try channelKey(request)
        let asked = try await read(request, ChannelRequest.init(reading:))
        let (upstream, app) = try await upstream(of: asked, request.tenant)
        if let known = await relay.channel(key) {
            guard known.app == app.id, known.environment == app.environment,
                known.storage == asked.storage
            else {
                throw Problem(
                    .preconditionFailed,
                    "The channel \"\(key.name)\" is there with another app or storage, which never "
                        + "change. Delete it first, or take another name.")
            }
            try Self.requireUsable(known, key)
            let isDryRun = try request.isDryRun
            return .json { ChannelView(known, activity: nil).write(to: &$0, isDryRun: isDryRun) }
        }
        let service = try service()
        let isDryRun = try request.isDryRun
        let id: String
        // Apple makes the id, and is not asked in a dry run.
        do throws(ChannelFailure) {
            id = isDryRun ? "" : try await service.create(asked.storage, in: upstream)
        } catch {
            throw Problem(error)
        }
        let channel = Channel(
            tenant: key.tenant, app: app.id, environment: app.environment, name: key.name, id: id,
            storage: asked.storage)
        if isDryRun {
            return .json { ChannelView(channel, activity: nil).write(to: &$0, isDryRun: true) }
        }
        do throws(Problem) {
            _ = try Self.stored(await relay.submitChannelCommand(.made(channel)), "a channel")
        } catch {
            // No record has the channel's id, so delete it. If that fails, lists show it as
            // unknown.
            try? await service.delete(id, in: upstream)
            throw error
        }
        let made = await relay.channel(key) ?? channel
        return .json(201) { ChannelView(made, activity: nil).write(to: &$0) }
    }

    private static func requireUsable(_ known: Channel, _ key: ChannelKey) throws(Problem) {
        guard !known.isGone else {
            throw Problem(
                .preconditionFailed,
                "Apple does not know the channel \"\(key.name)\" any more. Delete it first.")
        }
        guard !known.isBeingDeleted else {
            throw Problem(
                .preconditionFailed,
                "The channel \"\(key.name)\" is being deleted. Send its DELETE again, then make "
                    + "it again.")
        }
    }

    func showChannel(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let key = try channelKey(request)
        let channel = try await known(key)
        let upstream = await upstream(of: channel)
        var view = ChannelView(channel, activity: await relay.activity(on: key))
        if let upstream, let service = channels {
            do throws(ChannelFailure) {
                view.isRegistered = try await service.read(channel.id, in: upstream) != nil
            } catch {
                // Show the record all the same; whether Apple knows the channel is unknown.
                view.isRegistered = nil
            }
        }
        return .json { [view] in view.write(to: &$0) }
    }

    func listChannels(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let named = await relay.channels(of: request.tenant)
        var page = ChannelPage(channels: [])
        for channel in named {
            let activity =
                if let name = channel.name {
                    await relay.activity(on: ChannelKey(tenant: request.tenant, name: name))
                } else { nil as Identifier? }
            page.channels.append(ChannelView(channel, activity: activity))
        }
        for (upstream, app) in await relay.upstreams(of: request.tenant, app: nil, environment: nil)
        {
            page.apps.append(await quota(upstream, app))
        }
        return .json { [page] in page.write(to: &$0) }
    }

    func deleteChannel(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        if let done = try await deleteUnknownChannel(request) { return done }
        let key = try channelKey(request)
        let channel = try await known(key)
        if let activity = await relay.activity(on: key) {
            throw Problem(
                .channelInUse,
                "The channel \"\(key.name)\" carries \"\(activity)\". End that first; once its "
                    + "end has gone, the channel is free.")
        }
        let isDryRun = try request.isDryRun
        let upstream = await upstream(of: channel)
        let service = upstream == nil ? nil : try service()
        if isDryRun { return .gone("channel", key.name.rawValue, isDryRun: true) }
        _ = try Self.stored(await relay.submitChannelCommand(.deleting(key)), "a channel")
        if let upstream, let service { try await delete(channel, key, in: upstream, by: service) }
        _ = try Self.stored(await relay.submitChannelCommand(.deleted(key)), "a channel")
        return .gone("channel", key.name.rawValue, isDryRun: false)
    }

    /// Deletes a channel at Apple. If Apple surely did not delete it, the channel is usable again.
    /// If that is unknown, it stays marked, and the client must repeat its DELETE.
    private func delete(
        _ channel: Channel, _ key: ChannelKey, in upstream: UpstreamNumber,
        by service: any ChannelService
    ) async throws(Problem) {
        do throws(ChannelFailure) {
            try await service.delete(channel.id, in: upstream)
        } catch {
            switch error {
            case .refused, .unreachable:
                _ = await relay.submitChannelCommand(ChannelCommand.kept(key))
            case .unknown: break
            }
            throw Problem(error)
        }
    }

    /// Deletes a channel at Apple that the relay has no record of, by Apple's id. Nil if the path
    /// does not name such a channel.
    private func deleteUnknownChannel(
        _ request: DoorRequest
    ) async throws(Problem) -> DoorResponse? {
        let id = request.parameter("name")
        if let name = Identifier(id),
            await relay.channel(ChannelKey(tenant: request.tenant, name: name)) != nil
        {
            return nil
        }
        guard let service = channels else { return nil }
        let isDryRun = try request.isDryRun
        for (upstream, _) in await relay.upstreams(of: request.tenant, app: nil, environment: nil) {
            let own = await relay.channelIDs(in: upstream)
            guard !own.contains(id) else {
                throw Problem(
                    .channelInUse,
                    "This relay made \"\(id)\". One that has a name is deleted by it; the others "
                        + "carry private cards, and are used again.")
            }
            do throws(ChannelFailure) {
                guard try await service.list(in: upstream).contains(id) else { continue }
                if !isDryRun { try await service.delete(id, in: upstream) }
                return .gone("channel", id, isDryRun: isDryRun)
            } catch {
                throw Problem(error)
            }
        }
        guard Identifier(id) == nil else { return nil }
        throw Problem(
            .unknownChannel,
            "Neither this relay nor Apple has a channel \"\(id)\". List them with GET /v1/channels."
        )
    }

    // MARK: Helpers

    private func channelKey(_ request: DoorRequest) throws(Problem) -> ChannelKey {
        let text = request.parameter("name")
        guard let name = Identifier(text) else {
            throw Problem(
                .invalidField,
                "\"\(text)\" cannot name a channel. Take 1 to 128 letters, digits or . _ : @ -.")
        }
        return ChannelKey(tenant: request.tenant, name: name)
    }

    func known(_ key: ChannelKey) async throws(Problem) -> Channel {
        if let channel = await relay.channel(key) { return channel }
        throw Problem(
            .unknownChannel,
            "No channel \"\(key.name)\" is there. Make it with PUT /v1/channels/\(key.name).")
    }

    private func upstream(
        of asked: ChannelRequest, _ tenant: TenantID
    ) async throws(Problem) -> (UpstreamNumber, CoreConfiguration.App) {
        let upstreams = await relay.upstreams(
            of: tenant, app: asked.app, environment: asked.environment)
        guard let first = upstreams.first else {
            throw Problem(
                .unknownApp, "No such app is configured.",
                errors: [FieldError(pointer: "/app", message: "is not configured")])
        }
        guard upstreams.count == 1 else {
            throw Problem(
                .unknownApp, "Several apps are configured; name one, and its environment.",
                errors: [FieldError(pointer: "/app", message: "is not clear")])
        }
        return first
    }

    private func upstream(of channel: Channel) async -> UpstreamNumber? {
        await relay.upstreams(
            of: channel.tenant, app: channel.app, environment: channel.environment
        ).first?.upstream
    }

    private func service() throws(Problem) -> any ChannelService {
        guard let channels else {
            throw Problem(.apnsUnreachable, "This relay has no way to Apple's channel service.")
        }
        return channels
    }

    private func quota(_ upstream: UpstreamNumber, _ app: CoreConfiguration.App) async
        -> ChannelQuota
    {
        var quota = ChannelQuota(app: app.id, environment: app.environment)
        let own = await relay.channelIDs(in: upstream)
        quota.own = own.count
        guard let service = channels else { return quota }
        do throws(ChannelFailure) {
            let all = try await service.list(in: upstream)
            let known = Set(own)
            quota.used = all.count
            quota.unknown = all.filter { !known.contains($0) }
        } catch {
            // List the records all the same.
            quota.used = nil
        }
        return quota
    }
}
