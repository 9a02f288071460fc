import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloLoop
import TomboloRelay

/// A request with a known route and a checked key.
struct DoorRequest: Sendable {
    let head: HTTPRequestHead
    let target: RequestTarget
    let match: RouteMatch
    /// Nil on open routes only.
    let principal: Principal?
    let access: AccessControl
    let exchange: HTTPExchange
    /// The open requests of its key; nil on open routes only.
    let use: KeyUse?
    /// Gives tenants their turns.
    let turns: TurnGate<TenantID>
    /// How long it has taken.
    let time: RequestTime

    var route: Route { match.route }

    /// The key's tenant. Traps for an open route, which has none.
    var tenant: TenantID {
        guard let principal else { preconditionFailure("an open route has no tenant") }
        return principal.tenant
    }

    /// What the key may change of devices. An open route has no key and may change nothing.
    var deviceAuthority: DeviceAuthority {
        guard let principal else { return .device(user: nil, app: nil, key: 0) }
        if principal.scopes.contains(.operate) { return .operate }
        return .device(
            user: principal.binding.user, app: principal.binding.app, key: principal.place)
    }

    /// The device whose key asks; nil for an operator's or observer's key.
    private var askingDevice: DeviceKey? {
        get throws(Problem) {
            guard let principal, !principal.scopes.contains(.operate) else { return nil }
            let observes = principal.scopes.contains(.observe)
            switch route.access {
            case .ownDevice: return try deviceKey()
            case .ownDeviceOrObserve: return observes ? nil : try deviceKey()
            case .anyDeviceOrObserve:
                guard case .device(let id, _) = try timelineReader() else { return nil }
                return DeviceKey(tenant: tenant, id: id)
            case .open, .produce, .observe, .operate: return nil
            }
        }
    }

    /// Refuses the key of a former user of the device. Refuses an unknown device, except for its
    /// registration. All doors rely on this check; a change of a device is checked again when it is
    /// applied.
    func checkDevice(_ relay: Relay) async throws(Problem) {
        guard let device = try askingDevice else { return }
        let isRegistration = route.operation == .registerDevice
        if let refusal = await relay.refusal(
            of: deviceAuthority, for: device, registers: isRegistration)
        {
            throw Problem(refusal)
        }
    }

    /// Throws if the key is not valid any more. Long work checks it before each step.
    func checkKey() throws(Problem) { try access.checkStillValid(principal) }

    var isKeyValid: Bool { principal.map { !access.isGone($0) } ?? true }

    // MARK: Path

    /// A path parameter as an identifier.
    func identifier(_ name: String) throws(Problem) -> Identifier {
        guard let identifier = Identifier(parameter(name)) else {
            throw Problem(
                .invalidField,
                "The \(name) in the path must be 1 to 128 letters, digits or . _ : @ -; "
                    + "choose another id.")
        }
        return identifier
    }

    /// A path parameter as it was sent.
    func parameter(_ name: String) -> String {
        guard let value = match.parameters[name] else {
            preconditionFailure("\(route.path.text) has no parameter \(name)")
        }
        return value
    }

    func activityKey() throws(Problem) -> ActivityKey {
        ActivityKey(tenant: tenant, id: try identifier("id"))
    }

    func deviceKey() throws(Problem) -> DeviceKey {
        DeviceKey(tenant: tenant, id: try identifier("device"))
    }

    // MARK: Query

    /// Refuses unknown and repeated parameters: a mistyped filter would show everything.
    func checkQuery() throws(Problem) {
        if target.hasTooManyItems {
            throw Problem(
                .invalidQuery,
                "The query has more than \(RequestTarget.queryItemsMax) parameters. Give each of "
                    + "those that \(route.path.text) takes once.")
        }
        for item in target.query where !route.query.contains(item.name) {
            let near = nearestName(to: item.name, among: route.query)
            let known = route.query.isEmpty ? "none" : route.query.joined(separator: ", ")
            throw Problem(
                .invalidQuery,
                "\(route.path.text) has no parameter \"\(item.name)\""
                    + (near.map { "; did you mean \"\($0)\"?" } ?? ". It takes: \(known)."))
        }
        // A second value would be silently ignored.
        for name in route.query where target.query.count(where: { $0.name == name }) > 1 {
            throw Problem(.invalidQuery, "\(name) is given more than once. Give it once.")
        }
    }

    /// A parameter with one of the known words; nil if it is missing.
    func word(_ name: String, among known: [String]) throws(Problem) -> String? {
        guard let word = target[name] else { return nil }
        guard known.contains(word) else { throw Self.unknown(word, of: name, among: known) }
        return word
    }

    /// The problem for an unknown word, which would never match anything.
    static func unknown(_ word: String, of name: String, among known: [String]) -> Problem {
        let near = nearestName(to: word, among: known)
        return Problem(
            .invalidQuery,
            "\(name) does not take \"\(word)\""
                + (near.map { "; did you mean \"\($0)\"?" }
                    ?? ". It takes: \(known.joined(separator: ", "))."))
    }

    func flag(_ name: String) throws(Problem) -> Bool {
        switch target[name] {
        case nil, "false": return false
        case "true": return true
        case let value?:
            throw Problem(.invalidQuery, "\(name)=\(value) must be \(name)=true or \(name)=false.")
        }
    }

    /// True for a dry run. Every write must check it: its route declares the parameter.
    var isDryRun: Bool { get throws(Problem) { try flag(Route.dryRun) } }

    func integer(_ name: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
        guard let text = target[name] else { return nil }
        guard let value = Int64(text), range.contains(value) else {
            let bounds = "\(range.lowerBound) to \(range.upperBound)"
            throw Problem(.invalidQuery, "\(name)=\(text) must be a whole number, \(bounds).")
        }
        return value
    }

    func limit() throws(Problem) -> Int {
        Int(try integer("limit", in: 1...1_000) ?? 100)
    }

    /// The last row of the previous page, its parts with slashes between them; nil: the first page.
    /// The last part, such as a type or a user, may contain a slash.
    func cursor(parts count: Int) throws(Problem) -> [String]? {
        guard let text = target["cursor"] else { return nil }
        let parts = text.split(
            separator: "/", maxSplits: count - 1, omittingEmptySubsequences: false)
        guard parts.count == count else {
            throw Problem(.invalidQuery, "cursor=\(text) is not a cursor of this list.")
        }
        return parts.map(String.init)
    }

    func identifier(inQuery name: String) throws(Problem) -> Identifier? {
        guard let text = target[name] else { return nil }
        guard let identifier = Identifier(text) else {
            throw Problem(.invalidQuery, "\(name)=\(text) is not an id.")
        }
        return identifier
    }
}
