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
                    "\(name): pushes wait: \(Self.text(cause, notice.silence))",
                    remedy: "tombolo doctor")
            } ?? OperatorNote(.info, .upstreamOpen, "\(name): pushes go again")
        return note.adding("app", app.id).adding("environment", app.environment.name)
    }

    /// Apple's reasons that mean: the topic or the environment does not match the token.
    private static let aboutTopic: Set<String> = [
        "BadTopic", "MissingTopic", "TopicDisallowed", "DeviceTokenNotForTopic", "BadDeviceToken",
    ]

    static func text(_ cause: PushResult, _ silence: UpstreamSilence? = nil) -> String {
        if let silence {
            let pushes = silence.pushes == 1 ? "the last push" : "\(silence.pushes) pushes in a row"
            return
                "Apple does not answer: \(pushes) got no answer, and nothing came for "
                + Span.seconds(silence.span.nanoseconds / 1_000_000_000).roundedText
        }
        return switch cause {
        case .accepted: "nothing is wrong"
        case .rejected(_, "ExpiredProviderToken", _, _):
            "Apple calls a new provider token expired: this machine's clock is wrong"
        case .rejected(400, let reason, .connection, _) where aboutTopic.contains(reason):
            "Apple answers 400 \(reason) to phone after phone: the app's id, which is the topic, or "
                + "its environment is wrong"
        case .rejected(let status, let reason, _, _): "Apple answers \(status) \(reason)"
        case .notSent(let reason), .unknown(let reason): reason
        }
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
                    cause: CoreConfiguration.text(cause, notice.silence))
            }
            guard upstreamNotes[notice.upstream] != note else { continue }
            upstreamNotes[notice.upstream] = note
            report(
                note.adding("next_try", core.nextTry(notice.upstream, now: steadyNow())?.rfc3339),
                of: core.configuration.apps[Int(notice.upstream.rawValue)].tenant)
        }
    }
}
