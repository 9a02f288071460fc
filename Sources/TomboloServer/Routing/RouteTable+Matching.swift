import TomboloCore

/// A route, and the parameters in the path.
package struct RouteMatch: Sendable {
    package let route: Route
    /// Values of the path's parameters, by name.
    package let parameters: [String: String]
}

/// The result of looking up a path and a method.
package enum RouteLookup: Sendable {
    case found(RouteMatch)
    /// The path exists, but only with these methods.
    case otherMethods([String])
    /// The path does not exist; `RouteTable.nearest` suggests another.
    case nothing
}

extension RouteTable {
    /// Finds the route of a request.
    package static func lookup(method: String, segments: [String]) -> RouteLookup {
        let all = routes.compactMap { route in
            route.path.match(segments).map { RouteMatch(route: route, parameters: $0) }
        }
        // The pattern with more literals wins, even if it lacks this method: "/v1/activities/end"
        // never means the activity "end".
        let literals = all.map(\.route.path.literals).max()
        let matches = all.filter { $0.route.path.literals == literals }
        // A HEAD is answered by the route of its GET (RFC 9110, section 9.3.2).
        let wanted = method == "HEAD" ? "GET" : method
        if let match = matches.first(where: { $0.route.method == wanted }) { return .found(match) }
        if !matches.isEmpty { return .otherMethods(allowed(matches)) }
        return .nothing
    }

    private static func allowed(_ matches: [RouteMatch]) -> [String] {
        var methods = Set(matches.map(\.route.method))
        if methods.contains("GET") { methods.insert("HEAD") }
        methods.insert("OPTIONS")
        return methods.sorted()
    }

    /// Suggestions for a path that does not allow `method`: other requests with their operations.
    /// These are the path's own writes, for a collection the PUT of a member, and for an object
    /// that cannot be deleted the request that ends it.
    package static func alternatives(
        to method: String, _ segments: [String]
    ) -> [(request: String, operation: Operation)] {
        // A path with long segments, or with segments that need escapes, is shown as its pattern.
        let isShort = segments.allSatisfy {
            $0.utf8.count <= 128 && Identifier($0.replacing("~", with: "-")) != nil
        }
        let literals = routes.filter { $0.path.match(segments) != nil }.map(\.path.literals).max()
        return routes.compactMap { route in
            let text = route.path.text
            let isOwn = route.path.literals == literals && route.path.match(segments) != nil
            let isMember =
                route.method == "PUT" && text.hasSuffix("}")
                && route.path.match(segments + ["x"]) != nil
            let isEnd =
                method == "DELETE" && text.hasSuffix("/end") && segments.last != "end"
                && route.path.match(segments + ["end"]) != nil
            guard isOwn && route.method != "GET" || isMember || isEnd else { return nil }
            let path = isShort && !isMember ? route.path.filled(from: segments) : text
            return ("\(route.method) \(path)", route.operation)
        }
    }

    /// The path that was probably meant, with its method if the path ends with a verb of another
    /// API; nil if none is near. Compares the path with every pattern, so it costs more than most
    /// requests.
    package static func nearest(to segments: [String]) -> String? {
        // A verb of another API is no misspelt path: where it means nothing here, nothing is near.
        if segments.count > 2,
            otherVerbs.contains(where: { $0.verbs.contains(segments.last ?? "") })
        {
            return request(meantBy: segments)
        }
        let typed = "/" + segments.joined(separator: "/")
        var patterns: [String: String] = [:]
        for route in routes {
            let filled = route.path.filled(from: segments)
            if patterns[filled] == nil { patterns[filled] = route.path.text }
            // The most frequent mistake is a missing "/v1".
            let versioned = route.path.filled(from: ["v1"] + segments)
            if versioned == "/v1" + typed { return route.path.text }
        }
        guard let near = nearestName(to: typed, among: patterns.keys.sorted()),
            let pattern = patterns[near],
            // Letters never lead to a path that can only delete.
            routes.contains(where: { $0.path.text == pattern && $0.method != "DELETE" })
        else { return nil }
        return pattern
    }

    /// Verbs that other APIs have at the end of a path, and the methods or ends that do the same
    /// here; the first one that the object has is meant.
    package static let otherVerbs: [(verbs: [String], requests: [String])] = [
        (["update", "patch", "modify", "change", "set", "edit"], ["PATCH", "PUT"]),
        (["start", "create", "add", "new", "put", "register", "upsert"], ["PUT"]),
        (["send", "push", "notify"], ["PATCH"]),
        (["get", "show", "state", "status", "view", "info"], ["GET"]),
        (["stop", "cancel", "finish", "close", "dismiss", "complete"], ["POST /end"]),
        (["delete", "remove", "destroy", "unregister"], ["DELETE", "POST /end"]),
    ]

    private static func request(meantBy segments: [String]) -> String? {
        guard let verb = segments.last,
            let requests = otherVerbs.first(where: { $0.verbs.contains(verb) })?.requests
        else { return nil }
        let object = (segments.first == "v1" ? [] : ["v1"]) + segments.dropLast()
        for request in requests {
            let words = request.split { " /".contains($0) }.map(String.init)
            let path = object + words.dropFirst()
            let meant = routes.first { $0.method == words[0] && $0.path.match(path) != nil }
            if let meant { return "\(meant.method) \(meant.path.text)" }
        }
        return nil
    }
}
