import Testing
import TomboloCore

@testable import TomboloServer

/// Every route with every scope. What each scope opens is written out here, and not taken from the
/// route table.
@Suite struct ScopeWalkTests {
    private static let open: Set<Operation> = [
        .live, .ready, .version, .openAPI, .listProblems, .showProblem, .showConsole,
        .showConsoleFile,
    ]
    private static let produce: Set<Operation> = [
        .startActivity, .updateActivity, .endActivity, .endActivities, .playClip, .stopClip,
        .appendEvents, .putType, .putChannel, .deleteChannel,
        .putTimeline, .deleteTimeline, .reloadTimeline, .reloadControl,
    ]
    private static let observe: Set<Operation> = [
        .showActivity, .listActivities, .showDevice, .listLog, .showEvent, .tail, .metrics,
        .listPauses, .showPause, .listActivityDeliveries, .listDeliveries,
        .showDelivery, .explainActivity, .explain, .explainWidget, .listBudgets,
        .showType, .listDeadLetters, .showChannel, .listChannels, .overview, .listDevices,
        .listTypes, .showTimeline, .listTimelines,
    ]
    /// What any device may ask: what it sees is another question.
    private static let entries: Set<Operation> = [
        .timelineEntries, .timelineSnapshot, .timelinePlaceholder, .timelineChoices,
    ]
    private static let device: Set<Operation> = [
        .registerDevice, .showDevice, .deleteDevice, .registerToken, .deleteToken,
        .reportPresence, .reportActivity, .reconcileTokens, .postAction,
    ]
    private static let keys: Set<Operation> = [
        .mintKey, .listKeys, .rotateKey, .deleteKey, .reloadConfiguration, .retryDeadLetters,
        .retryDelivery, .createPause, .deletePause,
        .eraseActivity, .eraseDevice, .listPhones, .showPhone, .actOnPhone,
    ]

    /// A path of the route with ids in it, on the device `phone-1`.
    static func path(_ route: Route) -> String {
        route.path.text.replacing("{device}", with: "phone-1").replacing("{id}", with: "x")
            .replacing("{clip}", with: "x").replacing("{kind}", with: "x").replacing(
                "{name}", with: "widget"
            )
            .replacing("{ref}", with: "x").replacing("{type}", with: "T").replacing(
                "{seq}", with: "1"
            )
            .replacing("{slug}", with: "forbidden").replacing("{phone}", with: "phone-1")
            .replacing("{file}", with: "main.js")
    }

    private static let opened: [(scope: String, operations: Set<Operation>)] = [
        ("produce", open.union(produce)),
        ("observe", open.union(observe).union(entries)),
        ("device:phone-1", open.union(device).union(entries)),
        ("device:phone-2", open.union(entries)),
        ("operate", Set(Operation.allCases)),
        ("produce,observe", open.union(produce).union(observe).union(entries)),
    ]

    @Test func `every operation is somebody's`() {
        let all = Self.open.union(Self.produce).union(Self.observe).union(Self.device)
            .union(Self.keys).union(Self.entries)
        #expect(all == Set(Operation.allCases))
    }

    @Test func `each scope opens its routes and no other`() async throws {
        try await withDoors { doors in
            for (scope, operations) in Self.opened {
                let key = try await doors.mint(scope)
                for (route, status) in try await Self.walk(doors, key: key) {
                    #expect(status != 401)
                    #expect(
                        (status != 403) == operations.contains(route.operation),
                        "\(scope): \(route.method) \(route.path.text) → \(status)")
                }
            }
        }
    }

    @Test func `without a key only the open routes answer`() async throws {
        try await withDoors { doors in
            for (route, status) in try await Self.walk(doors, key: nil) {
                #expect(
                    (status != 401) == Self.open.contains(route.operation),
                    "\(route.method) \(route.path.text) → \(status)")
            }
        }
    }

    /// All routes in one run of curl: an empty body or a broken field stops each right behind its
    /// check.
    private static func walk(
        _ doors: DoorsUnderTest, key: String?
    ) async throws -> [(route: Route, status: Int)] {
        var arguments: [String] = []
        for route in RouteTable.routes {
            if !arguments.isEmpty { arguments.append("--next") }
            arguments += ["-sS", "-o", "/dev/null", "-w", "%{http_code}\n", "-X", route.method]
            if let key { arguments += ["-H", "Authorization: Bearer \(key)"] }
            arguments += ["-H", "Last-Event-ID: none", doors.origin + path(route)]
        }
        let text = try await Curl(arguments, on: doors.loop).wait()
        let statuses = text.split(separator: "\n").compactMap { Int($0) }
        try #require(statuses.count == RouteTable.routes.count, "\(text)")
        return Array(zip(RouteTable.routes, statuses)).map { (route: $0, status: $1) }
    }
}
