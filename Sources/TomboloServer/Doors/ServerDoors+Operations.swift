import TomboloAPI
import TomboloHTTP

extension ServerDoors {
    /// Carries out a request. Returns nil if the answer was streamed.
    func perform(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse? {
        switch request.route.operation {
        case .startActivity: try await startActivity(request, exchange)
        case .updateActivity: try await updateActivity(request, exchange)
        case .showActivity: try await showActivity(request)
        case .listActivities: try await listActivities(request)
        case .endActivity: try await endActivity(request, exchange)
        case .endActivities: try await endActivities(request, exchange)
        case .playClip: try await playClip(request, exchange)
        case .stopClip: try await stopClip(request)
        case .appendEvents: try await appendEvents(request, exchange)
        case .putType: try await putType(request, exchange)
        case .showType: try await showType(request)
        case .putChannel, .showChannel, .listChannels, .deleteChannel:
            try await performChannels(request, exchange)
        case .putTimeline, .showTimeline, .deleteTimeline, .listTimelines, .timelineEntries,
            .timelineSnapshot, .timelinePlaceholder, .timelineChoices, .explainWidget,
            .reloadTimeline, .reloadControl:
            try await performTimelines(request, exchange)
        case .listDeadLetters: try await listDeadLetters(request)
        case .retryDeadLetters: try await retryDeadLetters(request, exchange)
        case .registerDevice, .showDevice, .checkDevice, .deleteDevice, .reconcileTokens,
            .registerToken, .deleteToken, .reportPresence, .postAction, .reportActivity:
            try await performDevices(request, exchange)
        case .listLog: try await listLog(request)
        case .showEvent: try await showEvent(request)
        case .tail: try await tail(request, exchange)
        case .eraseActivity: try await eraseActivity(request)
        case .eraseDevice: try await eraseDevice(request)
        case .mintKey, .rotateKey: try await makeKey(request, exchange)
        case .listKeys: try listKeys(request)
        case .deleteKey: try await deleteKey(request)
        case .reloadConfiguration: try await reloadConfiguration(request, exchange)
        case .createPause, .listPauses, .showPause, .deletePause:
            try await performPauses(request, exchange)
        case .listActivityDeliveries, .listDeliveries, .showDelivery, .retryDelivery,
            .explainActivity, .explain:
            try await performHistory(request, exchange)
        case .listBudgets: try await listBudgets(request)
        case .overview: try await overview(request)
        case .listDevices, .listTypes: try await listRegistered(request)
        case .listPhones, .showPhone: try await showPhones(request)
        case .actOnPhone: try await actOnPhone(request, exchange)
        case .live: .text("live\n")
        case .ready: try await ready(request)
        case .metrics: await metrics(request)
        case .version: version()
        case .openAPI: openAPI(request)
        case .home, .listProblems, .showProblem: try pages(request)
        case .showConsole, .showConsoleFile: try console(request)
        }
    }

    private func performDevices(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        switch request.route.operation {
        case .registerDevice: try await registerDevice(request, exchange)
        case .showDevice: try await showDevice(request)
        case .checkDevice: try await checkDevice(request)
        case .deleteDevice: try await deleteDevice(request)
        case .reconcileTokens: try await reconcileTokens(request, exchange)
        case .registerToken: try await registerToken(request, exchange)
        case .deleteToken: try await deleteToken(request, exchange)
        case .reportPresence: try await reportPresence(request, exchange)
        case .postAction: try await postAction(request, exchange)
        default: try await reportActivity(request, exchange)
        }
    }

    private func performChannels(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        switch request.route.operation {
        case .putChannel: try await putChannel(request, exchange)
        case .showChannel: try await showChannel(request)
        case .deleteChannel: try await deleteChannel(request)
        default: try await listChannels(request)
        }
    }

    private func performPauses(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        switch request.route.operation {
        case .createPause: try await createPause(request, exchange)
        case .showPause: try await showPause(request)
        case .deletePause: try await deletePause(request)
        default: await listPauses(request)
        }
    }

    /// Requests about widgets and controls.
    private func performTimelines(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        switch request.route.operation {
        case .putTimeline: try await putTimeline(request, exchange)
        case .showTimeline: try await showTimeline(request)
        case .deleteTimeline: try await deleteTimeline(request)
        case .listTimelines: try await listTimelines(request)
        case .timelineChoices: try await timelineChoices(request)
        case .explainWidget: try await explainWidget(request)
        case .reloadTimeline, .reloadControl: try await reload(request, exchange)
        default: try await timelineEntries(request)
        }
    }

    /// Requests about the delivery history.
    private func performHistory(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        switch request.route.operation {
        case .listActivityDeliveries: try await listActivityDeliveries(request)
        case .showDelivery: try await showDelivery(request)
        case .retryDelivery: try await retryDelivery(request)
        case .explainActivity: try await explainActivity(request)
        case .explain: try await explain(request, exchange)
        default: try await listDeliveries(request)
        }
    }
}
