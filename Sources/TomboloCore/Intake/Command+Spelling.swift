package import TomboloJSON

extension Command.Content {
    /// Reads a producer's command. Returns it with the body for the log: the shortest spelling of
    /// what was sent, so that white space and needless escapes do not count against Apple's limit.
    /// Rows of the log are read unchanged.
    ///
    /// - Parameters:
    ///   - kind: the kind of command, from the path or from `do` of a line.
    ///   - envelope: fields that belong to the line around it.
    package static func reading(
        _ kind: EventKind, _ sent: JSONDocument, envelope: [String] = []
    ) throws(FieldErrors) -> (content: Self, body: [UInt8]) {
        guard let body = JSON.shortest(of: sent.bytes) else {
            return (try Self(kind: kind, sent.root, envelope: envelope), sent.bytes)
        }
        let short = JSON(unchecked: body).document
        let content = try Self(kind: kind, short.root, envelope: envelope)
        guard case .start(var start) = content,
            case .start(let asSent) = try Self(kind: kind, sent.root, envelope: envelope)
        else { return (content, body) }
        start.digestAsSent = asSent.digestOfBytes
        return (.start(start), body)
    }
}

extension Command {
    /// True if two commands are the same request: the same activity, kind and content, in any
    /// spelling.
    package func isSame(as other: Command) -> Bool {
        activity == other.activity && content.kind == other.content.kind && restart == other.restart
            && JSON(unchecked: body).isSameValue(as: JSON(unchecked: other.body))
    }
}

extension Core {
    /// True if a command is the request that an event came from, perhaps in another spelling; its
    /// body is completed by its type, like the event's. False if the activity is not in memory, or
    /// if the event restarted the activity and the command does not ask for that.
    package func isRequest(_ command: Command, of event: NewEvent) -> Bool {
        guard let slot = activities.slot(of: command.activity),
            activities[slot].number == event.activity, command.content.kind == event.kind,
            event.kind != .start || command.restart == (event.expectedVersion > 0)
        else { return false }
        let type =
            if case .start(let start) = command.content {
                // An app that is not known has no types.
                (try? configuration.app(of: start, tenant: command.activity.tenant)).flatMap {
                    types[.init(tenant: command.activity.tenant, app: $0, name: start.type)]
                }
            } else {
                types.type(of: activities[slot].definition, command.activity.tenant)
            }
        return JSON(unchecked: command.completed(by: type).body)
            .isSameValue(as: JSON(unchecked: event.body))
    }
}
