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
        let matches = routes.compactMap { route in
            route.path.match(segments).map { RouteMatch(route: route, parameters: $0) }
        }
        // A HEAD is answered by the route of its GET (RFC 9110, section 9.3.2).
        let wanted = method == "HEAD" ? "GET" : method
        let candidates = matches.filter { $0.route.method == wanted }
        // "/v1/activities/end" is also an activity called "end": the more literal pattern is meant.
        let best = candidates.max { $0.route.path.literals < $1.route.path.literals }
        if let best { return .found(best) }
        if !matches.isEmpty { return .otherMethods(allowed(matches)) }
        return .nothing
    }

    private static func allowed(_ matches: [RouteMatch]) -> [String] {
        var methods = Set(matches.map(\.route.method))
        if methods.contains("GET") { methods.insert("HEAD") }
        return methods.sorted()
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
