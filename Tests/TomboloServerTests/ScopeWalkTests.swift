import Testing
import TomboloCore

@testable import TomboloServer

/// Every route with every scope. What each scope opens is written out here, and not taken from the
/// route table.
@Suite struct ScopeWalkTests {
    private static let open: Set<Operation> = [
        .home, .live, .ready, .version, .openAPI, .listProblems, .showProblem, .showConsole,
        .showConsoleFile,
    ]
    private static let produce: Set<Operation> = [
        .startActivity, .updateActivity, .endActivity, .endActivities, .playClip, .stopClip,
        .appendEvents, .putType, .putChannel, .deleteChannel,
        .putTimeline, .deleteTimeline, .reloadTimeline, .reloadControl,
    ]
    private static let observe: Set<Operation> = [
        .showActivity, .listActivities, .showDevice, .checkDevice, .listLog, .showEvent,
        .tail, .metrics,
        .listPauses, .showPause, .listActivityDeliveries, .listDeliveries,
        .showDelivery, .explainActivity, .explain, .explainWidget, .listBudgets,
        .showType, .listDeadLetters, .showChannel, .listChannels, .overview, .listDevices,
        .listRequests, .search, .listTypes, .showTimeline, .listTimelines,
    ]
    /// What any device may ask: what it sees is another question.
    private static let entries: Set<Operation> = [
        .timelineEntries, .timelineSnapshot, .timelinePlaceholder, .timelineChoices,
    ]
    private static let device: Set<Operation> = [
        .registerDevice, .showDevice, .checkDevice, .deleteDevice, .registerToken, .deleteToken,
        .reportPresence, .reportActivity, .reconcileTokens, .postAction,
    ]
    private static let keys: Set<Operation> = [
        .mintKey, .listKeys, .rotateKey, .deleteKey, .reloadConfiguration, .retryUpstream,
        .retryDeadLetters,
        .retryDelivery, .createPause, .deletePause,
        .eraseActivity, .eraseDevice, .listPhones, .showPhone, .actOnPhone,
        .setScenario,
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
            .replacing("{file}", with: "main.js").replacing("{app}", with: "x")
            .replacing("{scenario}", with: "door")
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
                for (route, status, _) in try await Self.walk(doors, key: key) {
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
            for (route, status, _) in try await Self.walk(doors, key: nil) {
                #expect(
                    (status != 401) == Self.open.contains(route.operation),
                    "\(route.method) \(route.path.text) → \(status)")
            }
        }
    }

    @Test func `no cache keeps what is somebody's, and no browser guesses a type`() async throws {
        try await withDoors { doors in
            for key in [doors.key, nil] {
                for (route, _, guards) in try await Self.walk(doors, key: key) {
                    let isOpen = Self.open.contains(route.operation)
                    // A phone keeps its own entries, and asks each time whether they are so still.
                    let isPhones =
                        Self.entries.contains(route.operation)
                        && guards.starts(with: ["nosniff", "private,", "no-cache"])
                    #expect(
                        guards == ["nosniff", "no-store"]
                            || isOpen && guards == ["nosniff", "no-cache"]
                            || isPhones,
                        "\(route.method) \(route.path.text) → \(guards)")
                }
            }
            let stream = try await doors.call("POST", "/v1/events", "", fields: ["Prefer: lines"])
            #expect(stream.fields["cache-control"] == "no-store")
            #expect(stream.fields["x-content-type-options"] == "nosniff")
        }
    }

    /// All routes in one run of curl: an empty body or a broken field stops each right behind its
    /// check.
    private static func walk(
        _ doors: DoorsUnderTest, key: String?
    ) async throws -> [(route: Route, status: Int, guards: [String])] {
        var arguments: [String] = []
        for route in RouteTable.routes {
            if !arguments.isEmpty { arguments.append("--next") }
            let shown =
                "%{http_code} %header{x-content-type-options} %header{cache-control}\n"
            arguments += ["-sS", "-o", "/dev/null", "-w", shown, "-X", route.method]
            if let key { arguments += ["-H", "Authorization: Bearer \(key)"] }
            arguments += ["-H", "Last-Event-ID: none", doors.origin + path(route)]
        }
        let text = try await Curl(arguments, on: doors.loop).wait()
        let answers = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        try #require(answers.count == RouteTable.routes.count, "\(text)")
        return try zip(RouteTable.routes, answers).map { route, answer in
            (route, try #require(answer.first.flatMap { Int($0) }), Array(answer.dropFirst()))
        }
    }
}
