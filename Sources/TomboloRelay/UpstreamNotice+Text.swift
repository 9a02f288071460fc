import TomboloCore

extension CoreConfiguration {
    /// A note that an upstream has trouble or works again: the cause, and how to find out more.
    func note(_ notice: UpstreamNotice) -> OperatorNote {
        let app = apps[Int(notice.upstream.rawValue)]
        let name = "app \(app.id) (\(app.environment.name))"
        let note =
            notice.cause.map { cause in
                OperatorNote(
                    .warning, .upstreamClosed,
                    "\(name): pushes wait: \(cause.trouble(notice.silence))",
                    remedy: "tombolo doctor")
            } ?? OperatorNote(.info, .upstreamOpen, "\(name): pushes go again")
        return note.adding("app", app.id).adding("environment", app.environment.name)
    }
}

extension Relay {
    /// Reports changes of upstreams. A probe that fails as before is not reported.
    func report(_ notices: [UpstreamNotice]) {
        for notice in notices {
            let note = core.configuration.note(notice)
            upstreamTroubles[notice.upstream] = notice.cause.map { cause in
                UpstreamTrouble(
                    since: upstreamTroubles[notice.upstream]?.since ?? wallNow(),
                    cause: cause.trouble(notice.silence))
            }
            guard upstreamNotes[notice.upstream] != note else { continue }
            upstreamNotes[notice.upstream] = note
            report(
                note.adding("next_try", core.nextTry(notice.upstream, now: steadyNow())?.rfc3339),
                of: core.configuration.apps[Int(notice.upstream.rawValue)].tenant)
        }
    }
}
