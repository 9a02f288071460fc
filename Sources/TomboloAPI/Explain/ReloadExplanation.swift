package import TomboloCore

/// Explains why a control or the widgets of an app were or were not reloaded after the newest
/// event.
package struct ReloadExplanation: Sendable {
    private let name: TokenName
    private let reload: ReloadView
    private let last: WidgetExplanation.Outcome?
    private let change: WidgetExplanation.Change
    private let isSame: Bool?

    /// - Parameters:
    ///   - name: `widget` for all widgets, or the control's token name.
    ///   - last: the newest recorded reload; nil if there is none.
    ///   - isSame: true if the members that the type compares have the same values as at the last
    ///     reload; nil if unknown.
    package init(
        _ name: TokenName, reload: ReloadView, last: WidgetExplanation.Outcome?,
        change: WidgetExplanation.Change, isSame: Bool?
    ) {
        (self.name, self.reload, self.last) = (name, reload, last)
        (self.change, self.isSame) = (change, isSame)
    }

    package var surface: Explanation.Surface {
        Explanation.Surface(name.text, answer: answer, because: because)
    }

    private var answer: String {
        let version = "version \(change.version) of \(change.activity)"
        if let lack = reload.token.lack { return "Nothing can reload it: \(lack)." }
        if reload.holder != nil {
            return "A reload of it has not gone yet, so it may show what is older."
        }
        guard let last else {
            return "It was never reloaded. A reload follows an event that comes while the device "
                + "has the token \"\(name.text)\"."
        }
        if last.at >= change.at {
            return last.refusal == nil
                ? "Apple took its reload after \(version). The app says what it shows."
                : "Apple refused its reload after \(version)."
        }
        if isSame == true {
            return
                "No reload followed \(version): what its type takes for a change is as it was at "
                + "the reload before."
        }
        return
            "No reload followed \(version). It follows where a value changes that the type names "
            + "under significant, and the device has the token then."
    }

    private var because: [Explanation.Finding] {
        var findings: [Explanation.Finding] = []
        if let last {
            findings.append(
                Explanation.Finding(
                    last.refusal == nil ? "reload_accepted" : "reload_refused",
                    last.refusal.map { "Apple refused the newest reload: \($0)." }
                        ?? "Apple took the newest reload.", at: last.at))
        } else {
            findings.append(
                Explanation.Finding("no_reload", "No reload of it is on record."))
        }
        if isSame == true {
            findings.append(
                Explanation.Finding(
                    "same_content",
                    "Version \(change.version) of \(change.activity) changed nothing that its type "
                        + "takes for a change.", at: change.at))
        }
        return findings + Self.holders(name, reload)
    }

    /// Findings that say what holds a reload, or what makes it impossible.
    static func holders(_ name: TokenName, _ reload: ReloadView) -> [Explanation.Finding] {
        if let holder = reload.holder {
            let text = text(of: holder, name, reload)
            return [Explanation.Finding(holder.rawValue, text, at: reload.until)]
        }
        guard let lack = reload.token.lack else { return [] }
        let text = "\(lack.prefix(1).uppercased())\(lack.dropFirst()): no reload can go to it."
        return [Explanation.Finding("no_token", text)]
    }

    private static func text(
        of holder: ReloadView.Holder, _ name: TokenName, _ reload: ReloadView
    ) -> String {
        let until = reload.until.map { " until \($0.rfc3339)" } ?? ""
        let own = reload.budgetClass.name
        switch holder {
        case .token:
            let refused = reload.token.refused.map { " \($0). \(reload.token.cure)" } ?? ""
            return "A reload waits for a token \"\(name.text)\" of the device.\(refused)"
        case .spacing:
            return
                "A reload waits\(until): class \(own) leaves \(reload.spacing.text) between two "
                + "reloads of a device."
        case .budget: return "A reload waits\(until): the device's budget of class \(own) is spent."
        case .pause: return "A reload waits: an operator's pause holds it."
        case .backOff: return "A reload waits\(until): the attempt before came to nothing."
        case .upstream: return "A reload waits for its place on the way to Apple."
        case .inFlight: return "A reload is under way, and Apple has not answered yet."
        }
    }
}
