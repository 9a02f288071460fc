import TomboloCore

/// A route, and what the path said.
package struct RouteMatch: Sendable {
    package let route: Route
    /// Values of the path's parameters, by name.
    package let parameters: [String: String]
}

/// What a path and a method come to.
package enum RouteLookup: Sendable {
    case found(RouteMatch)
    /// The path is there, with these methods.
    case otherMethods([String])
    /// Nothing is there: `RouteTable.nearest` tells what may have been meant.
    case nothing
}

extension RouteTable {
    /// Finds the route of a request.
    package static func lookup(method: String, segments: [String]) -> RouteLookup {
        let all = routes.compactMap { route in
            route.path.match(segments).map { RouteMatch(route: route, parameters: $0) }
        }
        // "/v1/activities/end" is no activity called "end", whatever the method: the more literal
        // pattern is meant.
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

    /// What may have been meant where a path does not take `method`, as requests and what they do:
    /// the writes of the path, the PUT of a member where the path is a collection, and the end of
    /// what cannot be deleted.
    package static func alternatives(
        to method: String, _ segments: [String]
    ) -> [(request: String, operation: Operation)] {
        // What needs escapes in a path, or is long, is named by its pattern.
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

    /// The path that may have been meant. Compares what was typed with every pattern filled with
    /// what was typed in the parameters' places: that costs more than most requests do.
    package static func nearest(to segments: [String]) -> String? {
        let typed = "/" + segments.joined(separator: "/")
        var patterns: [String: String] = [:]
        for route in routes {
            let filled = route.path.filled(from: segments)
            if patterns[filled] == nil { patterns[filled] = route.path.text }
            // "/activities/x" for "/v1/activities/x" is the commonest slip.
            let versioned = route.path.filled(from: ["v1"] + segments)
            if versioned == "/v1" + typed { return route.path.text }
        }
        return nearestName(to: typed, among: patterns.keys.sorted()).flatMap { patterns[$0] }
    }
}
