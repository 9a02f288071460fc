import Testing
package import TomboloEventLog

/// Where a log lives: what a test opens, and opens again.
package protocol EventLogPlace: Sendable {
    /// A log over all that is durable here; whatever was open before is closed or gone.
    func open() async throws -> any EventLog
}

extension EventLogPlace {
    /// The same, and the log has read what it needs.
    func recovered() async throws -> any EventLog {
        let log = try await open()
        _ = try await log.recover()
        return log
    }
}

/// What every log promises, one rule each. An adapter's tests run `all` over places of its own.
package struct EventLogContract: Sendable, CustomTestStringConvertible {
    package let testDescription: String
    private let check: @Sendable (any EventLogPlace) async throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (any EventLogPlace) async throws -> Void) {
        testDescription = name
        self.check = check
    }

    /// Runs the rule in a fresh place.
    package func check(in place: any EventLogPlace) async throws { try await check(place) }

    package static let all =
        appending + refusing + reading + facts + counting + recovering + retiring + erasing
}
