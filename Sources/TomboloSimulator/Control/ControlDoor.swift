import TomboloHTTP
import TomboloJSON
import TomboloLoop

/// The simulator's control port. It changes faults at run time, and shows a phone's hidden state.
///
/// It speaks plain HTTP on a loopback address, without a key: each caller may do everything.
final class ControlDoor: HTTPHandler, @unchecked Sendable {
    // Sendable: used on the loop's thread only, by the server that calls it.

    private let gateway: Gateway
    private let fleet: PhoneFleet

    /// Maximum size of a request's body in bytes. A script of a thousand rules is far smaller.
    private static let bodyBytesMax = 1 << 20

    init(gateway: Gateway, fleet: PhoneFleet) {
        self.gateway = gateway
        self.fleet = fleet
    }

    struct Answer: Sendable {
        var status: Int
        var body: [UInt8]

        static let done = Answer(status: 204, body: [])

        static func json(_ status: Int = 200, _ write: (inout JSONWriter) -> Void) -> Answer {
            var writer = JSONWriter()
            write(&writer)
            return Answer(status: status, body: writer.bytes + [UInt8(ascii: "\n")])
        }

        static func wrong(_ status: Int, _ message: String) -> Answer {
            json(status) { writer in
                writer.object { $0.member("error", message) }
            }
        }
    }

    func handle(_ exchange: HTTPExchange) async {
        guard Self.isLocal(exchange.head) else {
            let answer = Answer.wrong(403, "this port is for programs of this machine")
            return exchange.respond(answer.status, HTTPFields(), answer.body)
        }
        let body: [UInt8]
        do throws(HTTPExchangeError) {
            body = try await exchange.body(atMost: Self.bodyBytesMax)
        } catch {
            return  // The server answers, or the client is gone.
        }
        let path = exchange.head.target.split(separator: "?", maxSplits: 1).first ?? ""
        let answer = answer(
            exchange.head.method, path.split(separator: "/").map(String.init), body)
        var fields = HTTPFields()
        if !answer.body.isEmpty { fields.append("content-type", "application/json") }
        exchange.respond(answer.status, fields, answer.body)
    }

    /// False if a browser sent the request for another site's page. Such a request names another
    /// host in `Host` (DNS rebinding), or has an `origin` field.
    static func isLocal(_ head: HTTPRequestHead) -> Bool {
        guard head.fields["origin"] == nil, let authority = head.authority else { return false }
        var host = authority[...]
        if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") { host = host[..<colon] }
        // Only a numeric address is local: the name `127.evil.example` begins like one.
        let isNumbers = host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2e }
        return host == "localhost" || host == "[::1]" || isNumbers && host.hasPrefix("127.")
    }

    private func answer(_ method: String, _ path: [String], _ body: [UInt8]) -> Answer {
        guard path.first == "v1" else { return .wrong(404, "it is all below /v1") }
        let rest = Array(path.dropFirst(2))
        switch path.count > 1 ? path[1] : "" {
        case "faults": return faults(method, rest, body)
        case "counts" where rest.isEmpty && method == "GET": return counts()
        case "phones": return phones(method, rest, body)
        default: return .wrong(404, "there are /v1/faults, /v1/counts and /v1/phones")
        }
    }

    // MARK: - Faults

    private func faults(_ method: String, _ rest: [String], _ body: [UInt8]) -> Answer {
        let now = gateway.wallClock()
        switch (method, rest.count) {
        case ("GET", 0): return list(at: now)
        case ("PUT", 0), ("POST", 0):
            let rules: [FaultRule]
            do {
                rules = try FaultRule.script(body)
            } catch {
                return .wrong(422, error.description)
            }
            if method == "PUT" { gateway.faults.replace(with: [], at: now) }
            guard gateway.faults.entries.count + rules.count <= FaultScript.rulesMax else {
                return .wrong(422, "there are at most \(FaultScript.rulesMax) rules")
            }
            for rule in rules { gateway.faults.add(rule, at: now) }
        case ("DELETE", 0): gateway.faults.replace(with: [], at: now)
        case ("DELETE", 1):
            guard let id = Int(rest[0]), gateway.faults.remove(id) else {
                return .wrong(404, "there is no such rule")
            }
        default: return .wrong(405, "GET, PUT, POST or DELETE /v1/faults; DELETE /v1/faults/ID")
        }
        gateway.limitStreams(at: now)
        gateway.faultsChanged.unpark()
        return list(at: now)
    }

    private func list(at now: WallInstant) -> Answer {
        .json { writer in
            writer.object { writer in
                writer.array("rules", of: gateway.faults.entries) { writer, entry in
                    writer.object { writer in
                        writer.member("id", entry.id)
                        writer.member("name", entry.rule.name)
                        writer.member("effect", entry.rule.effect)
                        writer.member("open", entry.rule.isOpen(at: now, since: entry.givenAt))
                        writer.member("taken", entry.taken)
                    }
                }
            }
        }
    }

    private func counts() -> Answer {
        .json { writer in
            let counts = gateway.counts
            writer.object { writer in
                writer.member("accepted", counts.accepted)
                writer.object("keys") { writer in
                    for (key, count) in counts.acceptedByKey.sorted(by: { $0.key < $1.key }) {
                        writer.member(key, count)
                    }
                }
                writer.object("refused") { writer in
                    for (reason, count) in counts.refused.sorted(by: {
                        $0.key.rawValue < $1.key.rawValue
                    }) {
                        writer.member(reason.rawValue, count)
                    }
                }
                writer.object("faults") { writer in
                    for (effect, count) in counts.faults.sorted(by: { $0.key < $1.key }) {
                        writer.member(effect, count)
                    }
                }
            }
        }
    }

    // MARK: - Phones

    private func phones(_ method: String, _ rest: [String], _ body: [UInt8]) -> Answer {
        let now = gateway.wallClock()
        guard let name = rest.first else {
            guard method == "GET" else { return .wrong(405, "GET /v1/phones") }
            return .json { writer in
                writer.object { writer in
                    writer.array("phones", of: fleet.phones) {
                        PhonePage.write($1, at: now, into: &$0)
                    }
                }
            }
        }
        guard let phone = fleet.phones.first(where: { $0.configuration.name == name }) else {
            let names = fleet.phones.map(\.configuration.name).joined(separator: ", ")
            return .wrong(404, "there is no phone \(name); there are: \(names)")
        }
        switch (method, rest.count > 1 ? rest[1] : "") {
        case ("GET", ""): return .json { PhonePage.write(phone, at: now, into: &$0) }
        case ("GET", "ignored"): return .json { PhonePage.writeIgnored(phone, into: &$0) }
        case ("POST", ""): return act(on: name, body)
        default:
            return .wrong(405, "GET or POST /v1/phones/\(name), GET /v1/phones/\(name)/ignored")
        }
    }

    /// Performs an action of the user, the system or the app on a phone.
    private func act(on name: String, _ body: [UInt8]) -> Answer {
        // It does not matter where the JSON is wrong, because there are few members.
        guard let view = (try? JSONDocument(body))?.root, let word = view["do"]?.string else {
            return .wrong(422, "send {\"do\":…}: \(Self.deeds)")
        }
        guard let deed = PhoneDeed(rawValue: word) else {
            return .wrong(422, "\(word) is not one of \(Self.deeds)")
        }
        let activity = view["activity"]?.string ?? ""
        let phone = fleet.phones.first { $0.configuration.name == name }
        let hasCard = phone?.cards.contains { $0.activityID == activity } ?? false
        if !hasCard, deed != .listen, deed.needsCard || !activity.isEmpty {
            return .wrong(409, "\(name) has no card of the activity \"\(activity)\"")
        }
        if let phone, let obstacle = deed.obstacle(on: phone, activity: activity) {
            return .wrong(422, obstacle)
        }
        do {
            let widget = try WidgetDeed(view)
            let link = view["link"]?.string
            if let phone, let obstacle = widget.obstacle(to: deed, link: link, on: phone) {
                return .wrong(422, obstacle)
            }
            fleet.perform(on: name, try deed.change(view))
        } catch {
            return .wrong(422, error.message)
        }
        return phones("GET", [name], [])
    }

    private static let deeds = PhoneDeed.allCases.map(\.rawValue).joined(separator: ", ")
}
