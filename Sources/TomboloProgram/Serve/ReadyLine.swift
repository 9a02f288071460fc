import TomboloJSON

/// The first output line of a relay, for scripts.
struct ReadyLine: Hashable, Sendable {
    var api: Origin
    /// Only `dev` has it.
    var key: String?
    /// Only `dev` has it.
    var simulator: String?
    /// Only `dev` has it.
    var caFile: String?

    var console: String { "\(api)/console/" }

    /// The console's URL, with the key in its fragment. A browser does not send the fragment, and
    /// the page removes it from the address bar at once.
    var consoleWithKey: String { key.map { "\(console)#key=\($0)" } ?? console }

    /// The wall of phones of `dev`, with the key.
    var wall: String { "\(consoleWithKey)/phones" }

    /// The line of a relay that waits for its log.
    var waiting: JSON {
        JSON.object { writer in
            writer.member("waiting", true)
            writer.member("api", api.description)
        }
    }

    var json: JSON {
        JSON.object { writer in
            writer.member("ready", true)
            writer.member("api", api.description)
            if let key { writer.member("key", key) }
            if let simulator { writer.member("simulator", simulator) }
            writer.member("console", console)
            if let caFile { writer.member("ca", caFile) }
        }
    }
}
