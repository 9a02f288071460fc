package import TomboloJSON

/// Why a fault script cannot be used. The text is for the script's author.
package struct FaultScriptError: Error, Hashable, Sendable, CustomStringConvertible {
    /// JSON Pointer to the faulty place.
    package var pointer: String
    package var message: String

    package var description: String { pointer.isEmpty ? message : "\(pointer): \(message)" }

    init(_ pointer: String, _ message: String) {
        self.pointer = pointer
        self.message = message
    }
}

extension FaultRule {
    /// Reads the rules of a script: `{"rules":[…]}`, or a single rule.
    package static func script(_ bytes: [UInt8]) throws(FaultScriptError) -> [FaultRule] {
        let root: JSONView
        do {
            root = try JSONDocument(bytes).root
        } catch {
            throw FaultScriptError("", "is not valid JSON: \(error)")
        }
        guard let rules = root["rules"] else { return [try FaultRule(root, at: "")] }
        guard rules.kind == .array, root.count == 1 else {
            throw FaultScriptError("/rules", "must be an array, and nothing else beside it")
        }
        guard rules.count <= FaultScript.rulesMax else {
            throw FaultScriptError("/rules", "has more than \(FaultScript.rulesMax) rules")
        }
        var read: [FaultRule] = []
        for (index, rule) in rules.elements.enumerated() {
            read.append(try FaultRule(rule, at: "/rules/\(index)"))
        }
        return read
    }

    /// The members of a rule, in the order in which error messages list them.
    private static let members = [
        "name", "to", "token", "push_type", "priority", "share", "times", "from", "for", "every",
        "status", "reason", "gone_for", "no_answer", "reset", "abort", "delay", "delivered",
        "go_away", "max_streams",
    ]

    /// Reads one rule. `pointer` is its place in the script.
    package init(_ view: JSONView, at pointer: String) throws(FaultScriptError) {
        let reader = FaultReader(view: view, pointer: pointer)
        try reader.checkMembers(Self.members)
        name = try reader.string("name") ?? ""
        target = try reader.target("to")
        tokenPrefix = try reader.string("token")?.lowercased() ?? ""
        pushType = try reader.string("push_type")
        priority = try reader.integer("priority", in: 1...10)
        share = try reader.share("share") ?? 1
        times = try reader.integer("times", in: 1...1_000_000_000)
        from = try reader.duration("from") ?? .zero
        lasts = try reader.duration("for")
        every = try reader.duration("every")
        delay = try reader.duration("delay") ?? .zero
        isDelivered = try reader.bool("delivered") ?? false
        goAway = try reader.string("go_away")
        streamsMax = try reader.integer("max_streams", in: 0...100_000)
        outcome = try Self.outcome(reader)
        if let every, every <= lasts ?? every {
            throw FaultScriptError(
                pointer + "/every", "needs a \"for\" that is shorter: the window must close")
        }
        guard touchesPushes || streamsMax != nil else {
            throw FaultScriptError(
                pointer,
                "does nothing; give one of status, no_answer, reset, abort, delay, go_away, "
                    + "max_streams")
        }
    }

    private static func outcome(_ reader: FaultReader) throws(FaultScriptError) -> Outcome {
        var outcomes: [Outcome] = []
        let goneFor = try reader.duration("gone_for") ?? .zero
        let reason = try reader.string("reason")
        let status = reason.flatMap { reason in
            RefusalReason(rawValue: reason)?.status ?? ChannelReason(rawValue: reason)?.status
        }
        if let status = try reader.integer("status", in: 400...599) ?? status {
            outcomes.append(
                .answer(Answer(status: status, reason: reason ?? "", goneFor: goneFor)))
        } else if reason != nil {
            throw FaultScriptError(
                reader.path("reason"), "is not one of Apple's reasons; give its status too")
        }
        if try reader.bool("no_answer") == true { outcomes.append(.silence(.noAnswer)) }
        if try reader.bool("abort") == true { outcomes.append(.silence(.abort)) }
        if let code = try reader.resetCode("reset") {
            outcomes.append(.silence(.reset(code: code)))
        }
        guard outcomes.count < 2 else {
            throw FaultScriptError(
                reader.pointer, "can end in one way only: status, no_answer, reset or abort")
        }
        return outcomes.first ?? .none
    }
}
