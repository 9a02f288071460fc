import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

@Suite struct RouteTableTests {
    private func found(_ method: String, _ path: String) throws -> RouteMatch? {
        let target = try #require(RequestTarget(path))
        guard case .found(let match) = RouteTable.lookup(method: method, segments: target.segments)
        else { return nil }
        return match
    }

    private func nearest(_ path: String) throws -> String? {
        let target = try #require(RequestTarget(path))
        guard case .nothing = RouteTable.lookup(method: "GET", segments: target.segments) else {
            return nil
        }
        return RouteTable.nearest(to: target.segments)
    }

    @Test func `every operation has one route, and no two routes are the same`() {
        #expect(
            RouteTable.routes.map(\.operation.rawValue).sorted()
                == Operation.allCases.map(\.rawValue).sorted())
        #expect(
            Set(RouteTable.routes.map { "\($0.method) \($0.path.text)" }).count
                == RouteTable.routes.count)
    }

    @Test func `a path finds its route and its parameters`() throws {
        let stop = try found("DELETE", "/v1/activities/cat%2D7/clips/clip_7?x=1")
        #expect(stop?.route.operation == .stopClip)
        #expect(stop?.parameters == ["id": "cat-7", "clip": "clip_7"])
        #expect(try found("GET", "/livez/")?.route.operation == .live)
        #expect(try found("HEAD", "/v1/log")?.route.operation == .listLog)
        #expect(try found("PUT", "/v1/activities/") == nil)
        #expect(try found("PUT", "/v1//activities/x") == nil)
    }

    @Test func `the more literal of two paths is meant`() throws {
        #expect(try found("POST", "/v1/activities/end")?.route.operation == .endActivities)
        // No activity is called "end", whatever the method.
        #expect(try found("PATCH", "/v1/activities/end") == nil)
    }

    @Test(arguments: [
        ("/v1/activities/x/update", "PATCH /v1/activities/{id}"),
        ("/activities/x/start", "PUT /v1/activities/{id}"),
        ("/v1/activities/x/delete", "POST /v1/activities/{id}/end"),
        ("/v1/activities/x/state", "GET /v1/activities/{id}"),
        ("/v1/devices/x/remove", "DELETE /v1/devices/{device}"),
        ("/v1/types/x/update", "PUT /v1/types/{type}"),
        ("/v1/activties/x", "/v1/activities/{id}"),
    ])
    func `a verb of another API leads to what does the same here`(
        _ path: String, _ meant: String
    ) throws {
        #expect(try nearest(path) == meant)
    }

    @Test(arguments: RouteTable.routes)
    func `no guess by letters leads to what takes away`(route: Route) throws {
        let path = ScopeWalkTests.path(route)
        let verbs = RouteTable.otherVerbs.flatMap(\.verbs)
        for place in path.indices where place > path.startIndex {
            var typed = path
            typed.remove(at: place)
            guard let last = typed.split(separator: "/").last, !verbs.contains(String(last)),
                let guess = try nearest(typed)
            else { continue }
            #expect(!takesAway(guess), "\(typed) leads to \(guess)")
            let all = RouteTable.routes.filter { $0.path.text == guess }
            #expect(all.contains { $0.method != "DELETE" }, "\(typed) leads to \(guess)")
        }
    }

    @Test func `what ends, erases or deletes is known by the last word of its path`() {
        let words = ["end", "erase", "delete", "stop", "rotate", "retry"]
        for route in RouteTable.routes where route.method != "DELETE" {
            let isSo = words.contains { route.operation.rawValue.hasPrefix($0) }
            #expect(takesAway(route.path.text) == isSo, "\(route.path.text)")
        }
    }

    @Test(arguments: RouteTable.routes)
    func `a path names its methods, and what it names instead of another is there`(
        route: Route
    ) throws {
        let path = ScopeWalkTests.path(route)
        let segments = try #require(RequestTarget(path)).segments
        for method in ["GET", "PUT", "PATCH", "POST", "DELETE", "OPTIONS"] {
            guard
                case .otherMethods(let allowed) = RouteTable.lookup(
                    method: method, segments: segments)
            else { continue }
            #expect(allowed.contains(route.method) && allowed.contains("OPTIONS"))
            for other in allowed where other != "OPTIONS" {
                #expect(try found(other, path) != nil, "\(other) \(path)")
            }
            for (request, operation) in RouteTable.alternatives(to: method, segments) {
                let words = request.split(separator: " ").map(String.init)
                let there = try found(words[0], words[1].replacing("{", with: "x"))
                #expect(there?.route.operation == operation, "\(method) \(path): \(request)")
                #expect(APIDescription.summary(operation) != nil)
            }
        }
    }

    @Test func `a slash inside an escape separates nothing`() throws {
        #expect(try found("GET", "/v1/activities/a%2Fb")?.parameters == ["id": "a/b"])
    }

    @Test(arguments: [
        "v1", "", "/a%", "/a%g1", "/%ff", "*", "/v1/types/..%2fdevices%2fa", "/v1/./log",
        "/v1/a/..",
        "/v1/types/%2e%2e", "/v1/types/a%00", "/v1/types/a%0a", "/v1/types/%7f",
    ])
    func `a target that is no path is none`(text: String) {
        #expect(RequestTarget(text) == nil)
    }

    @Test func `a query is taken apart and decoded`() throws {
        let target = try #require(RequestTarget("/v1/log?activity=a+b%26&since=&flag"))
        #expect(target["activity"] == "a b&")
        #expect(target["since"] == "")
        #expect(target["flag"] == "")
        #expect(target["none"] == nil)
    }

    @Test func `a path that is nearly one names it`() throws {
        #expect(try nearest("/v1/activites/cat-7") == "/v1/activities/{id}")
        #expect(try nearest("/v1/event") == "/v1/events")
        #expect(try nearest("/activities/cat-7/end") == "/v1/activities/{id}/end")
        #expect(try nearest("/healthz/of/something/else") == nil)
    }
}

/// The route table and `Protocol/openapi.json` say the same.
@Suite struct OpenAPITests {
    private static func description() throws -> JSONView {
        try JSONDocument(APIDescription.bytes).root
    }

    @Test func `it is one document: each reference leads to a place within it`() throws {
        let description = try Self.description()
        var references = 0
        func check(_ view: JSONView) {
            if let target = view["$ref"]?.string {
                references += 1
                let place = target.hasPrefix("#/") ? JSONPointer(String(target.dropFirst())) : nil
                #expect(place.flatMap(description.at) != nil, "\(target)")
            }
            for (_, member) in view.members { check(member) }
            for element in view.elements { check(element) }
        }
        check(description)
        #expect(references > 100)
        let alert = description["components"]?["schemas"]?["alert"]
        #expect(alert?["properties"]?["title"] != nil)
        #expect(alert?["$id"] == nil && alert?["title"] == nil)
    }

    @Test func `each route is described, and nothing else is`() throws {
        let paths = try #require(try Self.description()["paths"])
        var described: [String] = []
        for (path, item) in paths.members {
            for (method, operation) in item.members where method != "parameters" {
                described.append(
                    "\(method.uppercased()) \(path) \(operation["operationId"]?.string ?? "")")
            }
        }
        let routes = RouteTable.routes.map {
            "\($0.method) \($0.path.text) \($0.operation.rawValue)"
        }
        #expect(described.sorted() == routes.sorted())
    }

    @Test(arguments: RouteTable.routes.map(\.operation))
    func `a route's scope, parameters and idempotency are as described`(operation: Operation)
        throws
    {
        let description = try Self.description()
        let route = try #require(RouteTable.routes.first { $0.operation == operation })
        let item = try #require(description["paths"]?[route.path.text])
        let described = try #require(item[route.method.lowercased()])
        let scopes = described["security"]?.elements.map {
            $0["key"]?.elements.first { _ in true }?.string
        }
        #expect(scopes == Self.scopes(route.access))
        let all = [item, described].flatMap { view in
            view["parameters"].map { Array($0.elements) } ?? []
        }
        let parameters = all.map { Self.resolved($0, description) }
        func names(_ place: String) -> [String] {
            parameters.filter { $0["in"]?.string == place }.compactMap { $0["name"]?.string }
        }
        #expect(names("query").sorted() == route.query.sorted())
        #expect(names("path").sorted() == route.path.parameters.sorted())
        #expect(names("header").contains("Idempotency-Key") == route.takesIdempotencyKey)
        // Each route refuses a parameter that it does not know; each with a device, a name that
        // is none.
        let answers = described["responses"]?.members.map { $0.0 } ?? []
        #expect(answers.contains("400"))
        #expect(answers.contains("422") || !route.path.parameters.contains("device"))
        // A client made from the description reads every refusal as a problem, listed or not.
        #expect(
            described["responses"]?["default"]?["$ref"]?.string
                == "#/components/responses/Problem")
    }

    private static func resolved(_ view: JSONView, _ description: JSONView) -> JSONView {
        guard let target = view["$ref"]?.string,
            let pointer = JSONPointer(String(target.dropFirst()))
        else { return view }
        return description.at(pointer) ?? view
    }

    private static func scopes(_ access: Access) -> [String] {
        switch access {
        case .open: []
        case .produce: ["produce"]
        case .observe: ["observe"]
        case .ownDevice: ["device:{id}"]
        case .ownDeviceOrObserve, .anyDeviceOrObserve: ["device:{id}", "observe"]
        case .operate: ["operate"]
        }
    }
}
