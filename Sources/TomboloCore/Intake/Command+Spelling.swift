package import TomboloJSON

extension Command.Content {
    /// Reads a producer's command. Returns it with the body for the log: the shortest JSON text of
    /// what was sent, so that white space and needless escapes do not count against Apple's limit.
    ///
    /// - Parameters:
    ///   - kind: the kind of command, from the path or from `do` of a line.
    ///   - envelope: members of the batch line that are not part of the command.
    package static func reading(
        _ kind: EventKind, _ sent: JSONDocument, envelope: [String] = []
    ) throws(FieldErrors) -> (content: Self, body: [UInt8]) {
        guard let short = sent.shortest else {
            return (try Self(kind: kind, sent.root, envelope: envelope), sent.bytes)
        }
        let content = try Self(kind: kind, short.root, envelope: envelope)
        guard case .start(var start) = content,
            case .start(let asSent) = try Self(kind: kind, sent.root, envelope: envelope)
        else { return (content, short.bytes) }
        start.digestAsSent = asSent.digestOfBytes
        return (.start(start), short.bytes)
    }
}

extension Command {
    /// The value of a command's body, kept for comparisons with many others.
    package struct BodyValue: Sendable {
        fileprivate let hash: UInt64
        fileprivate let canonical: [UInt8]

        /// Reads the whole body once.
        package init(_ command: Command) {
            let body = JSON(unchecked: command.body)
            hash = body.valueHash
            canonical = body.document.root.canonical
        }
    }

    /// True if another command is the same request: the same activity, kind and content, in any
    /// spelling.
    ///
    /// - Parameter value: of this command's body. It is made at the first comparison that needs it.
    package func isSame(as other: Command, _ value: inout BodyValue?) -> Bool {
        if let idempotency, idempotency == other.idempotency { return true }
        guard activity == other.activity, content.kind == other.content.kind,
            restart == other.restart
        else { return false }
        let known = value ?? BodyValue(self)
        value = known
        let body = JSON(unchecked: other.body)
        return body.valueHash == known.hash && body.document.root.canonical == known.canonical
    }

    /// The member of a kept start that began its activity again.
    static let restartMember = "restart"

    /// True if this is the request that an event came from, perhaps in another spelling. What the
    /// relay writes into a body counts only where the request says it too, since a type may have
    /// changed meanwhile.
    func isRequest(of event: NewEvent) -> Bool {
        guard content.kind == event.kind else { return false }
        let known = JSON(unchecked: event.body)
        let view = known.document.root
        // An older relay did not keep the flag.
        let restarted = view[Self.restartMember]?.bool ?? (event.expectedVersion > 0)
        guard event.kind != .start || restart == restarted else { return false }
        let own = JSON(unchecked: body).document.root["alert_ttl"]?.string
        if let own, Span(text: own) != view["alert_ttl"]?.string.flatMap({ Span(text: $0) }) {
            return false
        }
        let kept = JSON(
            unchecked: Array(
                #"{"alert_ttl":null,"\#(Self.restartMember)":null,"\#(StateHistory.member)":null}"#
                    .utf8))
        return JSON(unchecked: body).mergePatched(with: kept)
            .isSameValue(as: known.mergePatched(with: kept))
    }
}

extension Core {
    /// True if a command is the request that an event came from. False if the activity is not in
    /// memory.
    package func isRequest(_ command: Command, of event: NewEvent) -> Bool {
        guard let slot = activities.slot(of: command.activity) else { return false }
        return activities[slot].number == event.activity && command.isRequest(of: event)
    }
}
