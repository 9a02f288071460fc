import Testing
package import TomboloCore
import TomboloJSON

// How most tests begin, and what most of them then do.

extension Rig {
    /// A rig with a phone whose token for starts is known.
    package static func phone(
        _ budgetClass: BudgetClass = .standard, user: String? = nil, os: String? = nil
    ) -> Rig {
        var rig = Rig()
        rig.device("phone", budgetClass, user: user, os: os)
        rig.token("start:Runner", "aa")
        return rig
    }

    /// The same with an activity that was started at second 0, and has no token of its own yet.
    package static func started(
        _ budgetClass: BudgetClass = .standard, user: String? = nil, until seconds: Double? = nil
    ) -> Rig {
        var rig = Rig.phone(budgetClass, user: user)
        rig.start()
        if let seconds { rig.advance(to: seconds) }
        return rig
    }

    /// The same with that token too, as ``runningActivity(_:)`` brings it about.
    package static func running(
        _ budgetClass: BudgetClass = .standard, user: String? = nil, until seconds: Double? = nil
    ) -> Rig {
        var rig = Rig.started(budgetClass, user: user)
        rig.token("activity:cat", "bb")
        if let seconds { rig.advance(to: seconds) }
        return rig
    }

    /// An activity on the phone.
    package mutating func start(
        _ id: String = "cat", lap: Int = 0, restart: Bool = false
    ) {
        let body = #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":\#(lap)}}"#
        command(.start, body, id: id) { $0.restart = restart }
    }

    /// The activity's next lap, and then time goes on to `seconds` after the epoch.
    package mutating func update(
        lap: some BinaryInteger, _ urgency: Urgency? = nil, until seconds: Double? = nil
    ) {
        let fields = urgency.map { #","urgency":"\#($0.name)""# } ?? ""
        command(.update, #"{"state":{"lap":\#(lap)}\#(fields)}"#)
        if let seconds { advance(to: seconds) }
    }

    /// Of the next pushes so many get this answer; Apple takes what comes after them.
    package mutating func answerFirst(_ count: Int = 1, with result: PushResult) {
        var left = count
        verdict = { _ in
            left -= 1
            return left >= 0 ? result : .accepted
        }
    }

    /// What Apple refused permanently is tried again, and then time goes on.
    package mutating func retry(until seconds: Double? = nil) {
        step(.retry(DeadLetterQuery(tenant: Rig.tenant), Ticket(9_001)))
        if let seconds { advance(to: seconds) }
    }

    /// The places of what is wrong with a text; none where it is taken.
    package static func faults<Value>(_ reading: () throws -> Value) -> [String] {
        do {
            _ = try reading()
        } catch let faults as FieldErrors {
            return faults.errors.map(\.pointer)
        } catch {
            Issue.record(error)
        }
        return []
    }

    /// Each of the laps at its own second.
    package mutating func laps(
        _ laps: some Sequence<Int>, _ urgency: Urgency? = nil, at second: (Int) -> Double
    ) {
        for lap in laps {
            advance(to: second(lap))
            update(lap: lap, urgency)
        }
    }
}

extension Command {
    /// A producer's command, for a test that hands it over by itself.
    package init(_ kind: EventKind, _ body: String, id: String = "cat") throws {
        let document = try JSONDocument(Array(body.utf8))
        self.init(
            activity: ActivityKey(tenant: Rig.tenant, id: Identifier(id)!),
            content: try Content(kind: kind, document.root), body: document.bytes)
    }
}

extension PushResult {
    /// Apple's answer that a push was not taken.
    package static func refusal(
        _ status: Int, _ reason: String, _ reaches: BlastRadius, since: Instant? = nil
    ) -> PushResult {
        .rejected(status: status, reason: reason, reaches: reaches, tokenGoneSince: since)
    }
}
