/// A short name for the rows below.
private typealias Doors = ServerDoors

/// All routes of the relay, each with its door. Routing, `Allow`, the check of scopes and the test
/// of the OpenAPI description all use this table, so that they cannot differ. HEAD is not in the
/// table: it is GET without the body.
package enum RouteTable {
    package static let routes: [Route] = producer + timelines + devices + operators + pacing + open

    private static let producer = [
        Route(
            "PUT", "/v1/activities/{id}", .startActivity, .produce, Doors.startActivity,
            idempotency: true, query: ["restart"]),
        Route(
            "PATCH", "/v1/activities/{id}", .updateActivity, .produce, Doors.updateActivity,
            idempotency: true),
        Route(
            "GET", "/v1/activities/{id}", .showActivity, .observe, Doors.showActivity,
            query: ["at", "at_seq", "at_version"]),
        Route(
            "POST", "/v1/activities/{id}/end", .endActivity, .produce, Doors.endActivity,
            idempotency: true),
        Route("POST", "/v1/activities/end", .endActivities, .produce, Doors.endActivities),
        Route(
            "POST", "/v1/activities/{id}/clips", .playClip, .produce, Doors.playClip,
            idempotency: true),
        Route(
            "DELETE", "/v1/activities/{id}/clips/{clip}", .stopClip, .produce, Doors.stopClip,
            idempotency: true),
        Route(
            "GET", "/v1/activities", .listActivities, .observe, Doors.listActivities,
            query: ["status", "type", "user", "limit", "cursor"]),
        Route("POST", "/v1/events", .appendEvents, .produce, Doors.appendEvents, query: ["atomic"]),
        Route("PUT", "/v1/types/{type}", .putType, .produce, Doors.putType),
        Route("GET", "/v1/types/{type}", .showType, .observe, Doors.showType, query: ["app"]),
        Route("POST", "/v1/controls/{kind}/reload", .reloadControl, .produce, Doors.reload),
        Route("PUT", "/v1/channels/{name}", .putChannel, .produce, Doors.putChannel),
        Route("GET", "/v1/channels/{name}", .showChannel, .observe, Doors.showChannel),
        Route("GET", "/v1/channels", .listChannels, .observe, Doors.listChannels),
        Route("DELETE", "/v1/channels/{name}", .deleteChannel, .produce, Doors.deleteChannel),
    ]

    private static let timelines = [
        Route("PUT", "/v1/timelines/{kind}", .putTimeline, .produce, Doors.putTimeline),
        Route(
            "GET", "/v1/timelines/{kind}", .showTimeline, .observe, Doors.showTimeline,
            query: ["user", "device", "key", "app"]),
        Route(
            "DELETE", "/v1/timelines/{kind}", .deleteTimeline, .produce, Doors.deleteTimeline,
            query: ["user", "device", "key", "app"]),
        Route(
            "GET", "/v1/timelines", .listTimelines, .observe, Doors.listTimelines,
            query: ["kind", "limit", "cursor"]),
        Route(
            "GET", "/v1/timelines/{kind}/entries", .timelineEntries, .anyDeviceOrObserve,
            Doors.timelineEntries, query: Self.entriesQuery),
        Route(
            "GET", "/v1/timelines/{kind}/snapshot", .timelineSnapshot, .anyDeviceOrObserve,
            Doors.timelineEntries, query: Self.entriesQuery),
        Route(
            "GET", "/v1/timelines/{kind}/placeholder", .timelinePlaceholder, .anyDeviceOrObserve,
            Doors.timelineEntries, query: Self.entriesQuery),
        Route(
            "GET", "/v1/timelines/{kind}/choices", .timelineChoices, .anyDeviceOrObserve,
            Doors.timelineChoices, query: ["family", "device", "app", "cursor"]),
        Route(
            "GET", "/v1/timelines/{kind}/explain", .explainWidget, .observe, Doors.explainWidget,
            query: ["device", "config", "app"]),
        Route("POST", "/v1/timelines/{kind}/reload", .reloadTimeline, .produce, Doors.reload),
    ]

    private static let entriesQuery = ["family", "config", "user", "device", "key", "app"]

    private static let devices = [
        Route("PUT", "/v1/devices/{device}", .registerDevice, .ownDevice, Doors.registerDevice),
        Route("GET", "/v1/devices/{device}", .showDevice, .ownDeviceOrObserve, Doors.showDevice),
        Route(
            "GET", "/v1/devices/{device}/check", .checkDevice, .ownDeviceOrObserve,
            Doors.checkDevice),
        Route("DELETE", "/v1/devices/{device}", .deleteDevice, .ownDevice, Doors.deleteDevice),
        Route(
            "PUT", "/v1/devices/{device}/tokens/{name}", .registerToken, .ownDevice,
            Doors.registerToken),
        Route(
            "DELETE", "/v1/devices/{device}/tokens/{name}", .deleteToken, .ownDevice,
            Doors.deleteToken),
        Route(
            "PUT", "/v1/devices/{device}/tokens", .reconcileTokens, .ownDevice,
            Doors.reconcileTokens),
        Route(
            "PUT", "/v1/devices/{device}/presence", .reportPresence, .ownDevice,
            Doors.reportPresence),
        Route(
            "PUT", "/v1/devices/{device}/activities/{ref}", .reportActivity, .ownDevice,
            Doors.reportActivity),
        Route(
            "POST", "/v1/devices/{device}/actions", .postAction, .ownDevice, Doors.postAction,
            idempotency: true),
    ]

    /// Query parameters that select rows of the log.
    private static let logQuery = [
        "kind", "fact", "result", "activity", "type", "device", "user", "since", "cursor",
    ]

    private static let operators = [
        Route(
            "GET", "/v1/log", .listLog, .observe, Doors.listLog,
            query: logQuery + ["do", "from", "until", "limit"]),
        Route("GET", "/v1/log/{seq}", .showEvent, .observe, Doors.showEvent),
        Route("POST", "/v1/activities/{id}/erase", .eraseActivity, .operate, Doors.eraseActivity),
        Route("POST", "/v1/devices/{device}/erase", .eraseDevice, .operate, Doors.eraseDevice),
        Route("GET", "/v1/tail", .tail, .observe, Doors.tail, query: logQuery),
        Route(
            "GET", "/v1/requests", .listRequests, .observe, Doors.listRequests,
            query: ["kind", "code", "activity", "limit", "cursor"]),
        Route("GET", "/v1/search", .search, .observe, Doors.searchTenant, query: ["q"]),
        Route(
            "GET", "/v1/dead-letters", .listDeadLetters, .observe, Doors.listDeadLetters,
            query: ["activity", "device", "reason", "limit", "cursor"]),
        Route(
            "POST", "/v1/dead-letters/retry", .retryDeadLetters, .operate, Doors.retryDeadLetters),
        Route("POST", "/v1/keys", .mintKey, .operate, Doors.mintKey),
        Route(
            "GET", "/v1/keys", .listKeys, .operate, Doors.listKeys,
            query: ["tenant", "limit", "cursor"]),
        Route("DELETE", "/v1/keys/{id}", .deleteKey, .operate, Doors.deleteKey, query: ["tenant"]),
        Route("POST", "/v1/keys/{id}/rotate", .rotateKey, .operate, Doors.rotateKey),
        Route(
            "POST", "/v1/configuration/reload", .reloadConfiguration, .operate,
            Doors.reloadConfiguration),
        Route(
            "POST", "/v1/upstreams/{app}/retry", .retryUpstream, .operate, Doors.retryUpstream,
            query: ["environment"]),
        Route("GET", "/metrics", .metrics, .observe, Doors.metrics),
        Route("GET", "/v1/overview", .overview, .observe, Doors.overview, query: ["history"]),
        Route(
            "GET", "/v1/devices", .listDevices, .observe, Doors.listDevices,
            query: ["user", "app", "os", "silent_for", "limit", "cursor"]),
        Route(
            "GET", "/v1/types", .listTypes, .observe, Doors.listTypes, query: ["limit", "cursor"]),
        // Only `tombolo dev` has phones; other relays answer 404.
        Route("GET", "/v1/phones", .listPhones, .operate, Doors.listPhones),
        Route("GET", "/v1/phones/{phone}", .showPhone, .operate, Doors.showPhone),
        Route("POST", "/v1/phones/{phone}", .actOnPhone, .operate, Doors.actOnPhone),
        Route("PUT", "/v1/scenarios/{scenario}", .setScenario, .operate, Doors.setScenario),
    ]

    private static let pacing = [
        Route("POST", "/v1/pauses", .createPause, .operate, Doors.createPause),
        Route("GET", "/v1/pauses", .listPauses, .observe, Doors.listPauses),
        Route("GET", "/v1/pauses/{id}", .showPause, .observe, Doors.showPause),
        Route("DELETE", "/v1/pauses/{id}", .deletePause, .operate, Doors.deletePause),
        Route(
            "GET", "/v1/activities/{id}/deliveries", .listActivityDeliveries, .observe,
            Doors.listActivityDeliveries, query: Self.deliveryQuery),
        Route(
            "GET", "/v1/deliveries", .listDeliveries, .observe, Doors.listDeliveries,
            query: ["activity"] + Self.deliveryQuery),
        Route("GET", "/v1/deliveries/{id}", .showDelivery, .observe, Doors.showDelivery),
        Route("POST", "/v1/deliveries/{id}/retry", .retryDelivery, .operate, Doors.retryDelivery),
        Route(
            "GET", "/v1/activities/{id}/explain", .explainActivity, .observe, Doors.explainActivity,
            query: ["device", "channel", "version", "at"]),
        Route("POST", "/v1/explain", .explain, .observe, Doors.explain, writes: false),
        Route(
            "GET", "/v1/budgets", .listBudgets, .observe, Doors.listBudgets,
            query: ["activity", "device", "limit", "cursor"]),
    ]

    private static let deliveryQuery = [
        "device", "channel", "user", "version", "result", "reason", "from", "until", "limit",
        "cursor",
    ]

    private static let open = [
        Route("GET", "/", .home, .open, Doors.home),
        Route("GET", "/livez", .live, .open, Doors.live),
        Route("GET", "/readyz", .ready, .open, Doors.ready),
        Route("GET", "/version", .version, .open, Doors.version),
        Route("GET", "/openapi.json", .openAPI, .open, Doors.openAPI),
        Route("GET", "/problems", .listProblems, .open, Doors.listProblems),
        Route("GET", "/problems/{slug}", .showProblem, .open, Doors.showProblem),
        Route("GET", "/console", .showConsole, .open, Doors.showConsole),
        Route("GET", "/console/{file}", .showConsoleFile, .open, Doors.showConsoleFile),
    ]
}
