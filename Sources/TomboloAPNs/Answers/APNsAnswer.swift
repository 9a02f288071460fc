package import TomboloCore

/// APNs' answer to one push. Its content is not trusted.
package struct APNsAnswer: Hashable, Sendable {
    /// Maximum length of a kept `reason` in bytes; Apple's longest has 27 characters.
    package static let reasonBytesMax = 64
    /// Replaces a `reason` that is absent, too long, or not printable ASCII.
    package static let noReason = "NoReasonGiven"

    package let status: Int
    /// Apple's reason, or `noReason`; empty for 200.
    package let reason: String
    /// Since when APNs knows that the token is invalid for the topic. Only 410 has it.
    package let goneSince: Instant?

    /// Parses an answer. If the body is not JSON or a member has a wrong type, it counts as absent.
    package init(status: Int, body: [UInt8]) {
        self.status = status
        guard status != 200 else {
            reason = ""
            goneSince = nil
            return
        }
        let told = APNsAnswerBody(body)
        reason = Self.printable(told.reason) ?? Self.noReason
        goneSince = status == 410 ? told.timestamp.map(Instant.init(milliseconds:)) : nil
    }

    /// What the refusal affects (its blast radius). Has no meaning for 200.
    package var reaches: BlastRadius {
        APNsReason.row(status: status, name: reason)?.reaches ?? APNsReason.unknown(status: status)
    }

    /// True if the connection that brought the answer must carry no further push.
    package var retiresConnection: Bool {
        guard status != 200 else { return false }
        if let row = APNsReason.row(status: status, name: reason) { return row.retiresConnection }
        return APNsReason.unknown(status: status) == .providerToken
    }

    /// True if the provider token was too old for Apple.
    package var isExpiredToken: Bool { status == 403 && reason == "ExpiredProviderToken" }

    /// The answer as a result for the core.
    package var result: PushResult { result(reaching: reaches) }

    /// The same with a given blast radius in place of the table's. For 200 the result is
    /// `.accepted`.
    package func result(reaching reaches: @autoclosure () -> BlastRadius) -> PushResult {
        status == 200
            ? .accepted
            : .rejected(
                status: status, reason: reason, reaches: reaches(), tokenGoneSince: goneSince)
    }

    /// The reason if it is safe in logs and dead letters, so short printable ASCII; else nil.
    static func printable(_ reason: String?) -> String? {
        guard let reason, (1...reasonBytesMax).contains(reason.utf8.count),
            reason.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return reason
    }
}
