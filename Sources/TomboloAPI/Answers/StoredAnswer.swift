package import TomboloCore
package import TomboloJSON

/// The answer to a request from a device.
package struct StoredAnswer: AnswerObject, Sendable {
    private let device: Identifier
    private let subject: (name: String, value: String)?
    private let kind: Stored.Kind
    private let presence: Presence.Verdict?
    private let endsWaiting: Int
    private let lint: [Lint]
    private let isDryRun: Bool

    /// - Parameters:
    ///   - subject: the part of the device that changed, for example `("token", "activity:cat-7")`.
    ///   - presence: the result of a presence report.
    ///   - endsWaiting: for a deleted device, the number of end events that still wait for it.
    ///   - isDryRun: true if nothing was stored.
    package init(
        device: Identifier, subject: (name: String, value: String)? = nil, kind: Stored.Kind,
        presence: Presence.Verdict? = nil, endsWaiting: Int = 0, lint: [Lint] = [],
        isDryRun: Bool = false
    ) {
        self.device = device
        self.presence = presence
        self.endsWaiting = endsWaiting
        self.subject = subject
        self.kind = kind
        self.lint = lint
        self.isDryRun = isDryRun
    }

    /// 202 if the token belongs to an activity unknown to the relay (RFC 9110, section 15.3.3).
    package var httpStatus: Int {
        if isDryRun { return 200 }
        return switch kind {
        case .created: 201
        case .updated, .outdated, .deleted: 200
        case .kept: 202
        }
    }

    package func write(membersTo writer: inout JSONWriter) {
        if isDryRun { writer.member("dry_run", true) }
        writer.member("device", device.rawValue)
        if let subject { writer.member(subject.name, subject.value) }
        writer.member("result", word)
        if let presence {
            writer.member("presence", presence.state.name)
            writer.member("is", presence.transition.name)
        }
        if endsWaiting > 0 { writer.member("ends_waiting", Int64(endsWaiting)) }
        if !lint.isEmpty { writer.lints(lint) }
    }

    private var word: String {
        switch kind {
        case .created: "created"
        case .updated: "updated"
        case .deleted: "deleted"
        case .kept: "kept"
        case .outdated: "outdated"
        }
    }
}
