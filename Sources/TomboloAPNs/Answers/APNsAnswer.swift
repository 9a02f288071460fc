package import TomboloCore

/// What APNs answered to one push, read but not trusted.
package struct APNsAnswer: Hashable, Sendable {
    /// Longest `reason` kept; Apple's longest has 27 characters.
    package static let reasonBytesMax = 64
    /// Stands for a `reason` that is absent, too long, or not printable ASCII.
    package static let noReason = "NoReasonGiven"

    package let status: Int
    /// Apple's string, or `noReason`; empty for 200.
    package let reason: String
    /// Only with 410: since when APNs knows that the token is not valid for the topic.
    package let goneSince: Instant?

    /// Reads an answer. A body that is no JSON, or has members of another type, is as one without
    /// them: the status alone decides then.
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

    /// How far the answer reaches. Only for a refusal: for 200 it means nothing.
    package var reaches: BlastRadius {
        APNsReason.row(status: status, name: reason)?.reaches ?? APNsReason.unknown(status: status)
    }

    /// Whether the connection that brought it takes no further push.
    package var retiresConnection: Bool {
        guard status != 200 else { return false }
        if let row = APNsReason.row(status: status, name: reason) { return row.retiresConnection }
        return APNsReason.unknown(status: status) == .providerToken
    }

    /// Whether the provider token was too old for Apple.
    package var isExpiredToken: Bool { status == 403 && reason == "ExpiredProviderToken" }

    /// The answer as the core takes it.
    package var result: PushResult { result(reaching: reaches) }

    /// The same where more is known than the table says; for 200 it is accepted whatever it
    /// reaches.
    package func result(reaching reaches: @autoclosure () -> BlastRadius) -> PushResult {
        status == 200
            ? .accepted
            : .rejected(
                status: status, reason: reason, reaches: reaches(), tokenGoneSince: goneSince)
    }

    /// The reason as it may stand in logs and dead letters: never a control character of a
    /// stranger.
    static func printable(_ reason: String?) -> String? {
        guard let reason, (1...reasonBytesMax).contains(reason.utf8.count),
            reason.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return reason
    }
}
