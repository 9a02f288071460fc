import TomboloAPI

/// One row of the route table: all properties of a request that do not depend on its body.
package struct Route: Sendable {
    package let method: String
    package let path: PathPattern
    /// The name of the request; also `operationId` in the OpenAPI description.
    package let operation: Operation
    package let access: Access
    let handler: Handler
    /// True if the route accepts an `Idempotency-Key`.
    package let takesIdempotencyKey: Bool
    /// The query parameters of the route; others are refused.
    package let query: [String]

    /// Query parameter of every write: a dry run reports the effect and changes nothing.
    package static let dryRun = "dry_run"

    /// The door that carries out a request. It returns nil if the answer was streamed.
    typealias Handler =
        @Sendable (ServerDoors) -> (DoorRequest) async throws(Problem) -> DoorResponse?

    /// - Parameter writes: whether the route writes, and so takes `dry_run`; nil: true unless the
    ///   method is GET.
    init(
        _ method: String, _ path: PathPattern, _ operation: Operation, _ access: Access,
        _ handler: @escaping Handler, idempotency: Bool = false, query: [String] = [],
        writes: Bool? = nil
    ) {
        let writes = writes ?? (method != "GET")
        self.method = method
        self.path = path
        self.operation = operation
        self.access = access
        self.handler = handler
        takesIdempotencyKey = idempotency
        self.query = writes ? query + [Self.dryRun] : query
    }
}

/// The operation of a route.
package enum Operation: String, Hashable, Sendable, CaseIterable {
    case startActivity, updateActivity, showActivity, listActivities
    case endActivity, endActivities
    case playClip, stopClip
    case appendEvents
    case putType, showType
    case putTimeline, showTimeline, deleteTimeline, listTimelines
    case timelineEntries, timelineSnapshot, timelinePlaceholder, timelineChoices, explainWidget
    case reloadTimeline, reloadControl
    case putChannel, showChannel, listChannels, deleteChannel
    case listDeadLetters, retryDeadLetters
    case registerDevice, showDevice, checkDevice, deleteDevice
    case registerToken, deleteToken, reconcileTokens
    case reportPresence, reportActivity, postAction
    case listLog, showEvent, tail, listRequests, search
    case eraseActivity, eraseDevice
    case mintKey, listKeys, rotateKey, deleteKey
    case reloadConfiguration, retryUpstream
    case createPause, listPauses, showPause, deletePause
    case listActivityDeliveries, listDeliveries, showDelivery, retryDelivery, listBudgets
    case explainActivity, explain
    case overview, listDevices, listTypes
    case listPhones, showPhone, actOnPhone, setScenario
    case home, live, ready, metrics, version, openAPI
    case showConsole, showConsoleFile
    case listProblems, showProblem
}
