import TomboloCore

extension CoreConfiguration {
    /// A lane's trouble, or its end, as a line for the operator: what it is, and what finds out
    /// more.
    func text(_ notice: LaneNotice) -> String {
        let app = apps[Int(notice.lane.rawValue)]
        let name = "app \(app.id) (\(app.environment.name))"
        guard let cause = notice.cause else { return "\(name): pushes go again" }
        return "\(name): pushes wait: \(Self.text(cause)); tombolo doctor finds out more"
    }

    private static func text(_ cause: PushResult) -> String {
        switch cause {
        case .accepted: "nothing is wrong"
        case .rejected(_, "ExpiredProviderToken", _, _):
            "Apple calls a new provider token expired: this machine's clock is wrong"
        case .rejected(let status, let reason, _, _): "Apple answers \(status) \(reason)"
        case .notSent(let reason), .unknown(let reason): reason
        }
    }
}
