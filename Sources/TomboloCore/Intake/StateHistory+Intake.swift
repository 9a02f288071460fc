import TomboloJSON

extension StateHistory {
    /// The fault if an event writes the history's list itself, which only the relay may; else nil.
    func fault(of content: Command.Content) -> FieldError? {
        let place: String?
        switch content {
        case .start(let start):
            place = start.state.document.root.at(path).map { _ in "/state\(path)" }
        case .update(let update): place = update.change.place(of: path)
        case .end(let end): place = end.change.place(of: path)
        case .play(let clip):
            place = clip.path.tokens.starts(with: path.tokens) ? "/path" : nil
        case .stop: place = nil
        }
        return place.map {
            FieldError(pointer: $0, message: "is kept by the relay (\"history\" of the type)")
        }
    }
}

extension Command.Content {
    /// The content with the rule for the history in its state; unchanged if it changes no state.
    func keeping(_ history: StateHistory) -> Command.Content {
        switch self {
        case .start(var start):
            start.history = history
            return .start(start)
        case .update(var update):
            if case .none = update.change { return self }
            update.history = history
            return .update(update)
        case .end(var end):
            if case .none = end.change { return self }
            end.history = history
            return .end(end)
        case .play, .stop: return self
        }
    }

    /// The rule for the history in the state; nil if there is none.
    var history: StateHistory? {
        switch self {
        case .start(let start): start.history
        case .update(let update): update.history
        case .end(let end): end.history
        case .play, .stop: nil
        }
    }
}
