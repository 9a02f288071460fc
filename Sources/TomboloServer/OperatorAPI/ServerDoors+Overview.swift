import TomboloAPI
import TomboloCore
import TomboloLoop
import TomboloRelay

extension ServerDoors {
    /// The operator's overview: counts, destinations that are late, and problems that need
    /// attention.
    func overview(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        guard let principal = request.principal else {
            throw Problem(.internalError, "The overview has no key.")
        }
        let tenant = principal.tenant
        let span = try historyAsked(request)
        let counters = await relay.counters(of: tenant)
        let row = await overview(of: tenant, cards: counters.destinations)
        var answer = OverviewAnswer(
            tenant: tenant, keyID: principal.keyID, scopes: principal.scopes.scopes.map(\.text),
            at: await relay.wallNow(),
            hasPhones: phones(of: tenant) != nil && principal.scopes.contains(.operate),
            counters: counters, lastSeq: await relay.lastSeq(of: tenant),
            countedAt: row.instant, overview: row.overview,
            attention: await attention(principal, row.overview))
        if let span { answer.history = try await history(of: principal, span) }
        return .json { answer.write(to: &$0) }
    }

    /// The tenant's overview, which may be some seconds old if it has many cards.
    private func overview(of tenant: TenantID, cards: Int) async -> OverviewMemory.Row {
        if let row = overviews.row(of: tenant, cards: cards, now: loop.now) { return row }
        let (begun, instant) = (overviews.generation, await relay.wallNow())
        let row = OverviewMemory.Row(
            overview: await relay.overview(of: tenant), at: loop.now, instant: instant)
        overviews.remember(row, of: tenant, cards: cards, begun: begun)
        return row
    }

    private func attention(
        _ principal: Principal, _ overview: Overview
    ) async -> [OverviewAnswer.Attention] {
        let tenant = principal.tenant
        var items = await troublesOfRelay(principal)
        items += await registrationsRefused(principal)
        items += await deadLetters(tenant)
        if overview.damaged > 0 {
            items.append(
                .init(
                    .damaged, "The log's rows of these activities cannot be read.",
                    count: Int64(overview.damaged),
                    commands: [
                        "tombolo activity ls --status damaged", "tombolo log verify --data DIR",
                    ]))
        }
        for group in overview.troubles {
            let lacks = await lacks(group, tenant)
            var item = Self.item(group, lack: lacks.isEmpty ? nil : lacks.joined(separator: " "))
            item.members = group.members
            items.append(item)
        }
        if overview.unreached > 0 {
            items.append(
                .init(
                    .unreached,
                    "These activities run and reach no phone now: they have no audience, no device of "
                        + "it has a token, or the card is gone there.",
                    count: Int64(overview.unreached), activity: overview.unreachedExample,
                    commands: [
                        overview.unreachedExample.map { "tombolo activity show \($0)" }
                            ?? "tombolo activity ls --status waiting",
                        "tombolo activity ls --status waiting",
                    ]))
        }
        items += await cardsThatNeverBegan(tenant)
        if let stalest = overview.stalest {
            items.append(
                .init(
                    .producerSilent,
                    "The cards of these activities are stale: their producers have sent nothing for "
                        + "stale_after. The one of \(stalest.activity) is silent since "
                        + "\(stalest.since.rfc3339).",
                    count: Int64(overview.stale), since: stalest.since, activity: stalest.activity,
                    commands: ["tombolo activity show \(stalest.activity)"]))
        }
        items += await relay.pauses(of: tenant).map { pause in
            var item = OverviewAnswer.Attention(
                .paused,
                "An operator has paused \(pause.alertsOnly ? "alerts" : "pushes")\(pause.subject), "
                    + "since \(pause.since.rfc3339)\(pause.reason.map { ": \($0)" } ?? "").",
                since: pause.since, activity: pause.activity,
                commands: ["tombolo resume \(pause.name)"])
            item.pause = pause.name
            if case .app(let app) = pause.scope { item.app = app }
            return item
        }
        return items
    }

    /// Problems of the relay itself and of its upstreams that this key may see.
    private func troublesOfRelay(_ principal: Principal) async -> [OverviewAnswer.Attention] {
        let tenant = principal.tenant
        let upstreams =
            principal.operatesRelay ? await relay.upstreams() : await relay.upstreams(of: tenant)
        let isWhole = await relay.isAlone(tenant) || principal.operatesRelay
        var items = await troublesOfItself(upstreams, isOpen: false, hasCertificate: isWhole)
        // A tenant that shares the relay must not see the machine's problems.
        guard isWhole else { return items }
        let rows = await relay.damagedRows
        if rows > 0 {
            let first = await relay.damageFound.first.map { ", for example \($0)" } ?? ""
            items.append(
                .init(
                    .logDamaged,
                    "Rows of the log cannot be read\(first). Answers that need them say so, and "
                        + "backups copy them as they are.",
                    count: Int64(rows), commands: ["tombolo log verify --data DIR"]))
        }
        if principal.operatesRelay, machine?().database?.standbys == 0 {
            items.append(
                .init(
                    .noStandby,
                    "No other relay waits for this log: nobody takes over if this one ends. A second "
                        + "tombolo serve with the same database would wait.",
                    commands: ["tombolo doctor"]))
        }
        if !access.unreadable.isEmpty {
            items.append(
                .init(
                    .keysUnreadable, "These API keys cannot be read, and are refused.",
                    count: Int64(access.unreadable.count), commands: ["tombolo key ls"]))
        }
        return items
    }

    /// Problems of readiness, clock, certificate and upstreams.
    ///
    /// - Parameter isOpen: true for an answer without a key; then no app is named.
    func troublesOfItself(
        _ upstreams: [UpstreamView], isOpen: Bool, hasCertificate: Bool = true
    ) async -> [OverviewAnswer.Attention] {
        var items: [OverviewAnswer.Attention] = []
        if let reason = await relay.unreadiness {
            items.append(.init(.notReady, reason, commands: ["tombolo doctor"]))
        }
        let places = machine?().upstreams ?? []
        let closed = upstreams.filter(\.isClosed)
        if isOpen, !closed.isEmpty {
            items.append(
                .init(
                    .upstreamClosed, "Pushes wait, for a way to Apple is closed.",
                    since: closed.compactMap(\.trouble?.since).min(), commands: ["tombolo doctor"]))
        } else {
            items += closed.prefix(Self.upstreamsMax).map { Self.item($0, places) }
        }
        let behind = await relay.clockBehind
        if behind >= Self.clockNotice {
            items.append(
                .init(
                    .clockBehind,
                    "The \(RelayClock.trouble(behind: behind)).",
                    commands: ["timedatectl status"]))
        }
        let now = await relay.wallNow()
        if hasCertificate, let end = certificateEnd,
            Instant(seconds: end) - now < Self.certificateNotice
        {
            items.append(
                .init(
                    .certificateEnds,
                    "The listener's certificate ends at \(Instant(seconds: end).rfc3339).",
                    commands: ["tombolo config check"]))
        }
        return items
    }

    /// Maximum number of upstreams in the list.
    private static let upstreamsMax = 20

    /// An item if registrations came with a wrong key and no phone is registered at all.
    private func registrationsRefused(_ principal: Principal) async -> [OverviewAnswer.Attention] {
        let tenant = principal.tenant
        let count = refusedKeys.registrationsRefused(now: loop.now)
        // The count covers all tenants, so a tenant that shares the relay must not see it.
        guard count > 0, await relay.isAlone(tenant) || principal.operatesRelay else { return [] }
        for tenant in await relay.tenants where await relay.counters(of: tenant).devices > 0 {
            return []
        }
        return [
            .init(
                .registrationsRefused,
                "No device is registered; \(count) registrations were refused with 401 in the last "
                    + "\(RefusedKeys.registrationMinutes) minutes. The phones need a key of this "
                    + "relay.",
                count: count, commands: ["tombolo key ls"])
        ]
    }

    private static func item(
        _ upstream: UpstreamView, _ places: [MachineView.UpstreamPlace]
    ) -> OverviewAnswer.Attention {
        var text = "Pushes of \(upstream.app) (\(upstream.environment.name)) wait"
        if let trouble = upstream.trouble {
            text += " since \(trouble.since.rfc3339): \(trouble.cause)"
        }
        text +=
            upstream.nextTry.map { ". The next try is at \($0.rfc3339)." }
            ?? ". The next push tries."
        // A changed file of authorities takes effect only at a reload.
        let isUntrusted =
            upstream.trouble?.cause.contains("certificate") == true
            && places.contains { $0.app == upstream.app && !$0.caFile.isEmpty }
        var item = OverviewAnswer.Attention(
            .upstreamClosed, text, since: upstream.trouble?.since, commands: ["tombolo doctor"])
        item.commands =
            isUntrusted
            ? ["tombolo config reload"]
            : ["tombolo doctor", "tombolo upstream retry \(upstream.app)"]
        (item.app, item.environment) = (upstream.app, upstream.environment.name)
        return item
    }

    /// If the clock is behind by less than this, it is not reported: it corrects itself soon.
    private static let clockNotice = Span.seconds(60)
    /// Remaining validity below which a certificate is reported. Renewal normally happens earlier.
    private static let certificateNotice = Span.seconds(14 * 24 * 3_600)
    /// Refused pushes that are older than this are not reported.
    private static let deadLetterAge = Span.seconds(24 * 3_600)

    /// An item if starts waited within a day until their activities were over.
    private func cardsThatNeverBegan(_ tenant: TenantID) async -> [OverviewAnswer.Attention] {
        let counters = await relay.counters(of: tenant)
        guard let last = counters.lastNeverBegan,
            last.at > (await relay.wallNow()) - Self.deadLetterAge
        else { return [] }
        let count = counters.neverBegan.values.reduce(0, +)
        return [
            .init(
                .neverBegan,
                "Cards that never began since the relay started: \(count). Their starts waited until "
                    + "they were over, the newest because of `\(last.reason.name)`.",
                count: count, activity: last.activity, device: last.device,
                commands: ["tombolo why \(last.activity) \(last.device)"])
        ]
    }

    private func deadLetters(_ tenant: TenantID) async -> [OverviewAnswer.Attention] {
        let oldest = await relay.wallNow() - Self.deadLetterAge
        let refused = await relay.refusedPushes(of: tenant, since: oldest)
        guard let newest = refused.newest else { return [] }
        let token = refused.standing.map { " Apple never takes that token. \($0.cure)" } ?? ""
        var commands = ["tombolo dead ls"]
        if refused.standing != nil { commands.append("tombolo device show \(newest.device)") }
        if let one = refused.retriable {
            commands.append("tombolo dead retry --activity \(one.activity.id)")
        }
        return [
            .init(
                .refused,
                "Apple refused these pushes permanently within a day; the newest with "
                    + "\(newest.status) \(newest.reason).\(token)",
                count: Int64(refused.count), since: refused.since, activity: newest.activity.id,
                device: newest.device, commands: commands)
        ]
    }

    /// Says which tokens the group's members lack, each in a sentence: those that Apple refused, or
    /// a start token for their types. Empty if the cards exist and lack another token.
    private func lacks(_ group: Overview.Group, _ tenant: TenantID) async -> [String] {
        guard group.trouble == .noToken || group.trouble == .tokenRefused else { return [] }
        var (lacks, types): ([String], [String: Bool]) = ([], [:])
        for member in group.members {
            guard
                let view = await relay.activity(ActivityKey(tenant: tenant, id: member.activity)),
                let destination = view.destinations.last(where: {
                    $0.recipient == .device(member.device)
                })
            else { continue }
            if group.trouble == .tokenRefused {
                guard lacks.isEmpty, let text = destination.refusedText else { continue }
                lacks = ["Of \(member.device): \(text)"]
            } else if destination.waiting?.reason == WaitReason.startToken.name {
                types[view.type] = await relay.type(view.type, app: view.app, tenant: tenant) != nil
            }
        }
        guard !types.isEmpty else { return lacks }
        let names = types.keys.sorted()
        let unknown = names.filter { types[$0] == false }
        var text = "The app on these phones has not reported a push-to-start token for the type"
        text += "\(names.count == 1 ? "" : "s") \(names.joined(separator: ", "))"
        switch (unknown.count, names.count) {
        case (0, _): text += "."
        case (1, 1): text += ", which is not registered either: it may be misspelt."
        default:
            text += ". Not registered, so perhaps misspelt: \(unknown.joined(separator: ", "))."
        }
        return [text]
    }

    private static func item(_ group: Overview.Group, lack: String?) -> OverviewAnswer.Attention {
        let (activity, device) = (group.members[0].activity, group.members[0].device)
        var commands = ["tombolo activity show \(activity)"]
        let text: String
        switch group.trouble {
        case .notShown:
            text = "Apple took the newest push, and these phones say that they show something else."
            commands.append("tombolo budget show --device \(device)")
        case .frozen:
            text =
                "These phones have a newer state than they draw, and their picture has stood still "
                + "for a minute or more: the system may not call the widget extension any more."
            commands = ["tombolo why \(activity) \(device)"] + commands
        case .startUnknown:
            text = "Nobody knows whether these starts reached the phone: Apple did not answer."
        case .tokenRefused:
            text =
                "These cards get nothing, for Apple refused their token. "
                + (lack ?? "Of \(device): the app has registered another since.")
            commands = ["tombolo device show \(device)"] + commands
        case .noToken:
            text =
                lack
                ?? "These phones have no token to push to: the user has not tapped Allow, or the "
                + "app has not reported it."
            commands = ["tombolo device show \(device)"] + (lack == nil ? [] : commands)
        case .budgetSpent:
            text =
                "The budget of these cards is spent, or what is left of it is kept for alerts: changes "
                + "wait, or go at priority 5 and the phones are behind, until it has refilled."
            commands = ["tombolo budget show --activity \(activity)"]
        case .silent:
            text =
                "Apple has taken pushes for these phones, and their apps have said nothing since: for 5 "
                + "minutes where they have reported before, else for an hour. A phone may be off or "
                + "offline, or its app reports nothing."
            commands = ["tombolo device show \(device)", "tombolo why \(activity) \(device)"]
        case .dismissed:
            text = "The user has swiped these cards away; the relay sends nothing more there."
        case .lapsed:
            text = "The system ended these cards after 8 hours, and their activities go on."
            commands.append("tombolo end \(activity)")
        }
        return .init(
            AttentionCode(group.trouble), text, count: Int64(group.count), activity: activity,
            device: device, commands: commands)
    }
}

extension Pause {
    /// Which pushes the pause holds. Follows the word "pushes" in a sentence.
    fileprivate var subject: String {
        switch scope {
        case .all: ""
        case .app(let app): " of the app \(app)"
        case .type(let type): " of the type \(type)"
        case .activity(let id): " of \(id)"
        }
    }

    fileprivate var activity: Identifier? {
        if case .activity(let id) = scope { id } else { nil }
    }
}
