import TomboloJSON

extension StateHistory {
    /// What is wrong with an event that writes the list itself; nil where none does.
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
    /// The same, with a rule by which its activity's state keeps a history; as it is where it does
    /// not change the state.
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

    /// The rule that it is kept with.
    var history: StateHistory? {
        switch self {
        case .start(let start): start.history
        case .update(let update): update.history
        case .end(let end): end.history
        case .play, .stop: nil
        }
    }
}
