/// All routes of the relay. Routing, `Allow`, the check of scopes and the test of the OpenAPI
/// description all use this table, so that they cannot differ. HEAD is not in the table: it is GET
/// without the body.
package enum RouteTable {
    package static let routes: [Route] =
        producer + timelines + devices + operators + pacing + open

    private static let producer = [
        Route(
            "PUT", "/v1/activities/{id}", .startActivity, .produce, idempotency: true,
            query: ["restart"]),
        Route(
            "PATCH", "/v1/activities/{id}", .updateActivity, .produce, idempotency: true),
        Route(
            "GET", "/v1/activities/{id}", .showActivity, .observe,
            query: ["at", "at_seq", "at_version"]),
        Route(
            "POST", "/v1/activities/{id}/end", .endActivity, .produce, idempotency: true),
        Route("POST", "/v1/activities/end", .endActivities, .produce),
        Route(
            "POST", "/v1/activities/{id}/clips", .playClip, .produce, idempotency: true),
        Route(
            "DELETE", "/v1/activities/{id}/clips/{clip}", .stopClip, .produce, idempotency: true),
        Route(
            "GET", "/v1/activities", .listActivities, .observe,
            query: ["status", "type", "user", "limit", "cursor"]),
        Route("POST", "/v1/events", .appendEvents, .produce, query: ["atomic"]),
        Route("PUT", "/v1/types/{type}", .putType, .produce),
        Route("GET", "/v1/types/{type}", .showType, .observe, query: ["app"]),
        Route("POST", "/v1/controls/{kind}/reload", .reloadControl, .produce),
        Route("PUT", "/v1/channels/{name}", .putChannel, .produce),
        Route("GET", "/v1/channels/{name}", .showChannel, .observe),
        Route("GET", "/v1/channels", .listChannels, .observe),
        Route("DELETE", "/v1/channels/{name}", .deleteChannel, .produce),
    ]

    private static let timelines = [
        Route("PUT", "/v1/timelines/{kind}", .putTimeline, .produce),
        Route(
            "GET", "/v1/timelines/{kind}", .showTimeline, .observe,
            query: ["user", "device", "key", "app"]),
        Route(
            "DELETE", "/v1/timelines/{kind}", .deleteTimeline, .produce,
            query: ["user", "device", "key", "app"]),
        Route(
            "GET", "/v1/timelines", .listTimelines, .observe, query: ["kind", "limit", "cursor"]),
        Route(
            "GET", "/v1/timelines/{kind}/entries", .timelineEntries, .anyDeviceOrObserve,
            query: Self.entriesQuery),
        Route(
            "GET", "/v1/timelines/{kind}/snapshot", .timelineSnapshot, .anyDeviceOrObserve,
            query: Self.entriesQuery),
        Route(
            "GET", "/v1/timelines/{kind}/placeholder", .timelinePlaceholder, .anyDeviceOrObserve,
            query: Self.entriesQuery),
        Route(
            "GET", "/v1/timelines/{kind}/choices", .timelineChoices, .anyDeviceOrObserve,
            query: ["family", "device", "app", "cursor"]),
        Route(
            "GET", "/v1/timelines/{kind}/explain", .explainWidget, .observe,
            query: ["device", "config", "app"]),
        Route("POST", "/v1/timelines/{kind}/reload", .reloadTimeline, .produce),
    ]

    private static let entriesQuery = ["family", "config", "user", "device", "key", "app"]

    private static let devices = [
        Route("PUT", "/v1/devices/{device}", .registerDevice, .ownDevice),
        Route("GET", "/v1/devices/{device}", .showDevice, .ownDeviceOrObserve),
        Route("GET", "/v1/devices/{device}/check", .checkDevice, .ownDeviceOrObserve),
        Route("DELETE", "/v1/devices/{device}", .deleteDevice, .ownDevice),
        Route("PUT", "/v1/devices/{device}/tokens/{name}", .registerToken, .ownDevice),
        Route("DELETE", "/v1/devices/{device}/tokens/{name}", .deleteToken, .ownDevice),
        Route("PUT", "/v1/devices/{device}/tokens", .reconcileTokens, .ownDevice),
        Route("PUT", "/v1/devices/{device}/presence", .reportPresence, .ownDevice),
        Route("PUT", "/v1/devices/{device}/activities/{ref}", .reportActivity, .ownDevice),
        Route(
            "POST", "/v1/devices/{device}/actions", .postAction, .ownDevice, idempotency: true),
    ]

    /// Query parameters that select rows of the log.
    private static let logQuery = [
        "kind", "fact", "result", "activity", "type", "device", "user", "since", "cursor",
    ]

    private static let operators = [
        Route(
            "GET", "/v1/log", .listLog, .observe,
            query: logQuery + ["do", "from", "until", "limit"]),
        Route("GET", "/v1/log/{seq}", .showEvent, .observe),
        Route("POST", "/v1/activities/{id}/erase", .eraseActivity, .operate),
        Route("POST", "/v1/devices/{device}/erase", .eraseDevice, .operate),
        Route("GET", "/v1/tail", .tail, .observe, query: logQuery),
        Route(
            "GET", "/v1/dead-letters", .listDeadLetters, .observe,
            query: ["activity", "device", "reason", "limit", "cursor"]),
        Route("POST", "/v1/dead-letters/retry", .retryDeadLetters, .operate),
        Route("POST", "/v1/keys", .mintKey, .operate),
        Route("GET", "/v1/keys", .listKeys, .operate, query: ["tenant", "limit", "cursor"]),
        Route("DELETE", "/v1/keys/{id}", .deleteKey, .operate, query: ["tenant"]),
        Route("POST", "/v1/keys/{id}/rotate", .rotateKey, .operate),
        Route("POST", "/v1/configuration/reload", .reloadConfiguration, .operate),
        Route("GET", "/metrics", .metrics, .observe),
        Route("GET", "/v1/overview", .overview, .observe),
        Route("GET", "/v1/devices", .listDevices, .observe, query: ["limit", "cursor"]),
        Route("GET", "/v1/types", .listTypes, .observe, query: ["limit", "cursor"]),
        // Only `tombolo dev` has phones; other relays answer 404.
        Route("GET", "/v1/phones", .listPhones, .operate),
        Route("GET", "/v1/phones/{phone}", .showPhone, .operate),
        Route("POST", "/v1/phones/{phone}", .actOnPhone, .operate),
    ]

    private static let pacing = [
        Route("POST", "/v1/pauses", .createPause, .operate),
        Route("GET", "/v1/pauses", .listPauses, .observe),
        Route("GET", "/v1/pauses/{id}", .showPause, .observe),
        Route("DELETE", "/v1/pauses/{id}", .deletePause, .operate),
        Route(
            "GET", "/v1/activities/{id}/deliveries", .listActivityDeliveries, .observe,
            query: Self.deliveryQuery),
        Route(
            "GET", "/v1/deliveries", .listDeliveries, .observe,
            query: ["activity"] + Self.deliveryQuery),
        Route("GET", "/v1/deliveries/{id}", .showDelivery, .observe),
        Route("POST", "/v1/deliveries/{id}/retry", .retryDelivery, .operate),
        Route(
            "GET", "/v1/activities/{id}/explain", .explainActivity, .observe,
            query: ["device", "channel", "version", "at"]),
        Route("POST", "/v1/explain", .explain, .observe, writes: false),
        Route(
            "GET", "/v1/budgets", .listBudgets, .observe,
            query: ["activity", "device", "limit", "cursor"]),
    ]

    private static let deliveryQuery = [
        "device", "channel", "user", "version", "result", "reason", "from", "until", "limit",
        "cursor",
    ]

    private static let open = [
        Route("GET", "/", .home, .open),
        Route("GET", "/livez", .live, .open),
        Route("GET", "/readyz", .ready, .open),
        Route("GET", "/version", .version, .open),
        Route("GET", "/openapi.json", .openAPI, .open),
        Route("GET", "/problems", .listProblems, .open),
        Route("GET", "/problems/{slug}", .showProblem, .open),
        Route("GET", "/console", .showConsole, .open),
        Route("GET", "/console/{file}", .showConsoleFile, .open),
    ]
}
