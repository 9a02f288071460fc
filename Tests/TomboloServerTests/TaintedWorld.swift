import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

/// Two tenants of one relay, with what each of them must keep to itself.
struct TaintedWorld {
    /// Whoever asks, and the taints that it may see.
    struct Walker {
        var name: String
        var key: String
        var tenant: TenantID
        var mayObserve: Bool
        /// Its own device, where it is a phone.
        var device: String?
    }

    struct Phone {
        var name: String
        var tenant: Int
        var user: String
        var key: String
        var token: String
    }

    private struct Card {
        var id: String
        var tenant: Int
        var audience: Audience
        var taint: String
    }

    static let tenants = ["main", "other"].map { TenantID(Identifier($0)!) }
    static let apps = tenants.map {
        CoreConfiguration.App(
            tenant: $0, id: "com.example.\($0.name)", environment: .sandbox, allowsLab: true)
    }

    let doors: DoorsUnderTest
    private var chance: Chance
    private(set) var phones: [Phone] = []
    private var cards: [Card] = []
    private(set) var walkers: [Walker] = []
    private(set) var operators: [String] = []
    private var taints = 0

    init(seed: UInt64, _ doors: DoorsUnderTest) {
        self.doors = doors
        chance = Chance(seed &+ 1_000)
    }

    private mutating func taint(_ tenant: Int) -> String {
        taints += 1
        return "taint\(tenant)x\(taints)x"
    }

    private mutating func pick<Element>(_ list: [Element]) -> Element {
        list[Int.random(in: list.indices, using: &chance)]
    }

    // MARK: What there is

    mutating func populate(withCards: Bool = true) async throws {
        for (index, tenant) in Self.tenants.enumerated() {
            for scope in ["observe", "operate", "produce"] {
                let key = try await doors.mint(scope, tenant: tenant)
                if scope == "operate" { operators.append(key) }
                walkers.append(
                    Walker(
                        name: "\(scope) of \(tenant.name)", key: key, tenant: tenant,
                        mayObserve: scope != "produce"))
            }
            for number in 0..<3 { try await addPhone(index, number) }
            for _ in 0..<4 where withCards { try await addCard(index) }
        }
    }

    private mutating func addPhone(_ tenant: Int, _ number: Int) async throws {
        let user = "user\(taint(tenant))\(number)"
        let name = "phone\(taint(tenant))\(number)"
        let scopes = try #require(ScopeSet(list: "device:\(name)"))
        let minted = doors.doors.access.mint(
            environment: "test", tenant: Self.tenants[tenant], scopes: scopes,
            binding: KeyBinding(user: user), now: Instant(seconds: 0))
        doors.doors.access.admit(minted)
        // The same digits in both tenants: they are different tokens there.
        let phone = Phone(
            name: name, tenant: tenant, user: user, key: minted.key.text, token: "aa0\(number)")
        phones.append(phone)
        walkers.append(
            Walker(
                name: name, key: phone.key, tenant: Self.tenants[tenant], mayObserve: false,
                device: name))
        try await expect(200..<300, "PUT", "/v1/devices/\(name)", "{}", key: phone.key)
        try await expect(
            200..<300, "PUT", "/v1/devices/\(name)/tokens/start:Runner",
            #"{"token":"\#(phone.token)"}"#, key: phone.key)
    }

    private mutating func addCard(_ tenant: Int) async throws {
        let own = phones.filter { $0.tenant == tenant }
        let phone = pick(own)
        let isForUser = Bool.random(using: &chance)
        let taint = taint(tenant)
        let audience =
            isForUser ? #"{"user":"\#(phone.user)"}"# : #"{"device":"\#(phone.name)"}"#
        let card = Card(
            id: "card\(cards.count)", tenant: tenant,
            audience: isForUser
                ? .user(phone.user) : .devices([try #require(Identifier(phone.name))]),
            taint: taint)
        cards.append(card)
        try await expect(
            200..<300, "PUT", "/v1/activities/\(card.id)",
            #"{"type":"Runner","audience":\#(audience),"state":{"s":"\#(taint)"},"#
                + #""attributes":{"a":"\#(taint)"},"alert":{"title":"\#(taint)"}}"#,
            key: operators[tenant])
        switch Int.random(in: 0..<3, using: &chance) {
        case 0:
            try await expect(
                200..<300, "POST", "/v1/activities/\(card.id)/end",
                #"{"state":{"end":"\#(taint)"}}"#, key: operators[tenant])
        case 1:
            try await expect(
                200..<300, "PATCH", "/v1/activities/\(card.id)", #"{"state":{"u":"\#(taint)"}}"#,
                key: operators[tenant])
        default: break
        }
    }

    // MARK: What is tried

    /// Each phone's key asks for what is others'; whether it is refused does not matter here, but
    /// what comes of it does.
    mutating func trespass() async throws {
        for (place, phone) in phones.enumerated() {
            let path = "/v1/devices/\(phone.name)"
            for victim in phones where victim.name != phone.name {
                _ = try await doors.call(
                    "PUT", path, #"{"user":"\#(victim.user)"}"#, key: phone.key)
                for name in ["widget", "start:Runner"] {
                    _ = try await doors.call(
                        "PUT", "\(path)/tokens/\(name)", #"{"token":"\#(victim.token)"}"#,
                        key: phone.key)
                }
            }
            for (number, card) in cards.enumerated() {
                _ = try await doors.call(
                    "PUT", "\(path)/tokens/activity:\(card.id)",
                    #"{"token":"bb\#(place)\#(number % 10)0\#(number / 10)"}"#, key: phone.key)
            }
        }
        // What is started now goes to whoever the relay believes to have the token.
        for tenant in Self.tenants.indices {
            for _ in 0..<3 { try await addCard(tenant) }
        }
        for card in cards where Bool.random(using: &chance) {
            _ = try await doors.call(
                "PATCH", "/v1/activities/\(card.id)", #"{"state":{"late":"\#(card.taint)"}}"#,
                key: operators[card.tenant])
        }
    }

    /// Every route of the table, with ids of both tenants: whatever the answer is, it holds no
    /// taint that the walker has no right to and did not send itself.
    func walk(_ walker: Walker, seed: UInt64) async throws {
        for (card, phone) in [(cards[0], phones[0]), (cards[cards.count - 1], phones[3])] {
            let paths = RouteTable.routes.map { Self.path($0, card.id, phone) }
            let answers = try await ask(paths, walker.key)
            try #require(answers.count == paths.count)
            for ((method, path), answer) in zip(paths, answers) {
                // What its refused requests name, keys of the tenant have sent.
                if path == "/v1/requests" {
                    checkKeys(in: answer, walker, seed: seed)
                    continue
                }
                for leak in Self.taints(in: answer) where !path.contains(leak) {
                    #expect(
                        maySee(walker, leak),
                        "seed \(seed): \(walker.name) sees \(leak) by \(method) \(path)")
                }
            }
        }
    }

    /// All listed requests came with keys of the walker's tenant.
    private func checkKeys(in answer: String, _ walker: Walker, seed: UInt64) {
        guard let key = try? Regex(#""key":"([0-9a-f]+)""#) else { return }  // an own pattern
        for match in answer.matches(of: key) {
            let id = String(match.output[1].substring ?? "")
            #expect(
                doors.doors.access.record(id: id, of: walker.tenant) != nil,
                "seed \(seed): \(walker.name) sees a request of the key \(id)")
        }
    }

    private func maySee(_ walker: Walker, _ taint: String) -> Bool {
        let tenant = Self.tenants.firstIndex(of: walker.tenant).map { "taint\($0)x" } ?? "none"
        guard taint.hasPrefix(tenant) else { return false }
        // A producer's dry run tells what would be pushed, and to whom.
        if walker.mayObserve || walker.device == nil { return true }
        guard let own = phones.first(where: { $0.name == walker.device }) else { return false }
        return own.name.contains(taint) || own.user.contains(taint)
    }

    /// Reads alone, and writes as dry runs: the walk leaves the world as it is.
    private static func path(
        _ route: Route, _ card: String, _ phone: Phone
    ) -> (method: String, path: String) {
        let id = route.path.text.contains("/activities/") ? card : "1"
        var path = route.path.text.replacing("{device}", with: phone.name)
            .replacing("{id}", with: id).replacing("{clip}", with: "x")
            .replacing("{kind}", with: "x").replacing("{name}", with: "widget")
            .replacing("{ref}", with: card).replacing("{type}", with: "Runner")
            .replacing("{seq}", with: "3").replacing("{slug}", with: "forbidden")
        if route.method != "GET" { path += "?dry_run=true" }
        if route.operation == .tail { path += "?since=0" }
        if route.operation == .search { path += "?q=\(phone.name.prefix(1))" }
        return (route.method, path)
    }

    private static func taints(in text: String) -> Set<String> {
        guard let taint = try? Regex("taint[0-9]+x[0-9]+x") else { return [] }  // an own pattern
        return Set(text.matches(of: taint).map { String(text[$0.range]) })
    }

    // MARK: Pushes

    func checkPushes(seed: UInt64) {
        #expect(!doors.sender.pushes.isEmpty)
        for push in doors.sender.pushes {
            let tenant = Int(push.upstream.rawValue)
            let place = push.token.hasPrefix("bb") ? push.token.dropFirst(2).first : nil
            let holder =
                place.flatMap { Int(String($0)) }.map { phones[$0] }
                ?? phones.first { $0.tenant == tenant && $0.token == push.token }
            for leak in Self.taints(in: String(decoding: push.payload, as: UTF8.self)) {
                let card = cards.first { $0.taint == leak }
                let isFor =
                    switch card?.audience {
                    case .user(let user): user == holder?.user
                    case .devices(let ids): ids.map(\.rawValue).contains(holder?.name ?? "")
                    default: false
                    }
                #expect(
                    isFor && card?.tenant == tenant && holder?.tenant == tenant,
                    "seed \(seed): \(leak) goes to \(push.token) of \(holder?.name ?? "nobody")")
            }
        }
    }

    // MARK: Asking

    private func expect(
        _ statuses: Range<Int>, _ method: String, _ path: String, _ body: String, key: String
    ) async throws {
        let answer = try await doors.call(method, path, body, key: key)
        #expect(statuses.contains(answer.status), "\(method) \(path): \(answer.text)")
    }

    /// All in one run of curl; a tail is read for a moment.
    func ask(
        _ requests: [(method: String, path: String)], _ key: String
    ) async throws -> [String] {
        var arguments: [String] = []
        for (method, path) in requests {
            if !arguments.isEmpty { arguments.append("--next") }
            let patience = path.contains("/tail") ? "0.3" : "5"
            arguments += ["-sS", "-i", "--max-time", patience, "-w", "\n@@@\n", "-X", method]
            arguments += ["-H", "Authorization: Bearer \(key)"]
            if method != "GET" { arguments += ["--data-binary", "{}"] }
            arguments.append(doors.origin + path)
        }
        let text = await (try Curl(arguments, on: doors.loop)).wait()
        return text.components(splitBy: "\n@@@\n").dropLast().map { $0 }
    }
}

extension String {
    /// The pieces between marks.
    fileprivate func components(splitBy mark: String) -> [String] {
        split(separator: mark, omittingEmptySubsequences: false).map(String.init)
    }
}
