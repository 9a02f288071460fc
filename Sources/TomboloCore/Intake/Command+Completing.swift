import TomboloJSON

extension Command {
    /// Adds the settings of the type that the producer has left out (an alert's lifetime, and the
    /// rule for the history in the state), and the flag `restart` of the request. They go into the
    /// stored body, so that the log alone describes the event.
    package consuming func completed(by type: ActivityType?) -> Command {
        // Most commands stay as they are.
        guard type != nil || restart else { return self }
        let timed = timed(by: type).keepingRestart()
        guard let history = type?.history else { return timed }
        var next = timed
        next.content = timed.content.keeping(history)
        guard next.content.history != nil,
            let written = JSON(unchecked: timed.body)
                .setting(StateHistory.member, to: history.json)
        else { return timed }
        next.body = written.bytes
        return next
    }

    /// Writes into the body that the request had `restart=true`: the same request may come again.
    private func keepingRestart() -> Command {
        guard restart, content.kind == .start,
            let written = JSON(unchecked: body).setting(
                JSONPointer(tokens: [Self.restartMember]),
                to: JSON(unchecked: Array("true".utf8)))
        else { return self }
        var next = self
        next.body = written.bytes
        return next
    }

    private func timed(by type: ActivityType?) -> Command {
        guard let ttl = type?.alertTTL, content.alert != nil else { return self }
        var next = self
        switch content {
        case .start(var start):
            start.alertTTL = ttl
            next.content = .start(start)
        case .update(var update):
            update.alertTTL = ttl
            next.content = .update(update)
        // An end's alert is sent with the end or not at all, so it needs no lifetime.
        case .end, .play, .stop: return self
        }
        let known = JSON(unchecked: body)
        guard known.document.root["alert_ttl"] == nil,
            let written = known.setting(
                JSONPointer(tokens: ["alert_ttl"]),
                to: JSON(unchecked: Array("\"\(ttl.text)\"".utf8)))
        else { return self }
        next.body = written.bytes
        return next
    }
}
