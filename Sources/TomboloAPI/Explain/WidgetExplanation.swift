package import TomboloCore
package import TomboloJSON

/// The answer to "why does this widget show this content?".
package struct WidgetExplanation: AnswerObject, Sendable {
    /// The known facts about a widget.
    package struct Evidence: Sendable {
        package var kind: Identifier
        package var device: Identifier
        /// The widget's configuration ids; empty if it has none.
        package var config: [Identifier]
        /// The entries that the widget would get now; nil if the relay has none for it.
        package var entries: TimelineEntries?
        package var now: Instant
        package var reload: ReloadView
        /// For each widget family, its newest fetch since the relay's start.
        package var fetches: [Fetch] = []
        /// The result of the newest reload of the device; nil if none is recorded.
        package var last: Outcome?
        /// The newest change of the activity that the widget shows; nil if the question is not
        /// about an activity.
        package var change: Change?

        package init(
            kind: Identifier, device: Identifier, config: [Identifier], entries: TimelineEntries?,
            now: Instant, reload: ReloadView
        ) {
            self.kind = kind
            self.device = device
            self.config = config
            self.entries = entries
            self.now = now
            self.reload = reload
        }
    }

    /// The newest fetch of one widget family.
    package struct Fetch: Hashable, Sendable {
        /// Nil if the request named no family.
        package var family: WidgetFamily?
        package var at: Instant
        package var result: Result
        /// True if the fetch's key is bound to another user than the device's.
        package var isOfOther: Bool

        /// The result of the fetch.
        package enum Result: Hashable, Sendable {
            /// It got the entries that the relay still has.
            case newest
            /// It got "not modified": the widget has the entries that the relay still has.
            case unchanged
            /// It got entries that have been replaced since.
            case before
            /// It was refused, with this problem code. `isStill`: it would be refused now too.
            case refused(String, isStill: Bool)

            var isNewest: Bool { self == .newest || self == .unchanged }
        }

        var isRefused: Bool {
            if case .refused(_, let isStill) = result { isStill } else { false }
        }

        /// A sentence if the fetch's key was the wrong one; nil if the key is right.
        var wrongKey: String? {
            if case .refused(ProblemCode.keyNotSignedIn.rawValue, true) = result {
                return
                    "The relay refuses its key (key-not-signed-in): the key's user has not signed in "
                    + "on this device. "
            }
            if case .refused(ProblemCode.keyOfFormerUser.rawValue, _) = result {
                return
                    "The relay refuses its key (key-of-former-user): it is of a user who had the "
                    + "device before. "
            }
            return isOfOther
                ? "Its key is bound to another user than the device has now, and would be refused. "
                : nil
        }

        var name: String { family?.rawValue ?? "a widget without a family" }

        /// - Parameter family: nil if the request named no family.
        package init(family: WidgetFamily?, at: Instant, result: Result, isOfOther: Bool = false) {
            (self.family, self.at, self.result) = (family, at, result)
            self.isOfOther = isOfOther
        }
    }

    /// The newest event of an activity.
    package struct Change: Hashable, Sendable {
        package var activity: Identifier
        package var version: Int64
        /// When the event came, in wall time.
        package var at: Instant

        /// - Parameter at: when the event came, in wall time.
        package init(activity: Identifier, version: Int64, at: Instant) {
            (self.activity, self.version, self.at) = (activity, version, at)
        }
    }

    /// Apple's answer to a reload.
    package struct Outcome: Hashable, Sendable {
        package var at: Instant
        /// Why Apple refused the reload; nil if Apple accepted it.
        package var refusal: String?

        /// - Parameter refusal: nil if Apple accepted the reload.
        package init(at: Instant, refusal: String?) { (self.at, self.refusal) = (at, refusal) }
    }

    private let known: Evidence

    package init(_ known: Evidence) { self.known = known }

    private var question: String {
        let config = known.config.isEmpty ? "" : " (\(configText))"
        return "Why does the widget \(known.kind)\(config) on \(known.device) show what it shows?"
    }

    private var configText: String { known.config.map(\.rawValue).joined(separator: ",") }

    /// True if the activity has changed since all families fetched the relay's entries, and no
    /// reload was sent or is held: the change did not alter the entries.
    private var isSameSince: Bool {
        guard let change = known.change, known.entries != nil, !known.fetches.isEmpty,
            known.reload.holder == nil, known.last.map({ $0.at < change.at }) ?? true
        else { return false }
        return known.fetches.allSatisfy { $0.result.isNewest && $0.at < change.at }
    }

    private var answer: String {
        let (newest, others) = (
            known.fetches.filter(\.result.isNewest), known.fetches.filter { !$0.result.isNewest }
        )
        if let wrongKey = known.fetches.compactMap(\.wrongKey).last {
            return
                "\(wrongKey)It shows what it had, or nothing of this user, until the app gives its "
                + "widgets a key of the user who has signed in."
        }
        if known.entries == nil {
            // A widget with one configuration id gets a 404, others an empty entry.
            let answer = known.config.count == 1 ? "404" : "an empty entry"
            return
                "The relay has nothing for it, or this device may not read it. When it fetches, it "
                + "gets \(answer); until then it shows what it had."
        }
        if let refused = others.first(where: \.isRefused) {
            return "The relay refuses \(refused.name): the code is below."
        }
        if isSameSince, let change = known.change {
            return
                "It shows what the relay has: version \(change.version) of \(change.activity) "
                + "changed nothing that this widget gets, so no reload followed."
        }
        if others.isEmpty, !newest.isEmpty {
            return "It has fetched what the relay has, and shows the entry of its date."
        }
        if let lack = known.reload.token.lack {
            return "Nothing can reload it: \(lack). It fetches when its policy says."
        }
        if known.reload.holder != nil {
            return "A reload of it has not gone yet, so it may show what is older."
        }
        guard !known.fetches.isEmpty else {
            return
                "It has not fetched since the relay's start: it shows what it fetched before, or "
                + "its placeholder."
        }
        let names = others.map(\.name).joined(separator: ", ")
        return newest.isEmpty
            ? "It has not fetched since the newest change. The phone decides when: it keeps a budget "
                + "of reloads of its own."
            : "\(newest.map(\.name).joined(separator: ", ")) has what the relay has; \(names) has not "
                + "fetched since the newest change, if it is still placed."
    }

    private var because: [Explanation.Finding] {
        var findings: [Explanation.Finding] = []
        func add(_ code: String, _ text: String, _ at: Instant? = nil) {
            findings.append(Explanation.Finding(code, text, at: at))
        }
        if let entries = known.entries, let first = entries.begun {
            let isProvisional =
                first.isProvisional ? ", which its producer has not confirmed yet" : ""
            let next =
                entries.nextBoundary(after: known.now)
                .map { "; the next one is of \($0.rfc3339InSeconds)" } ?? ""
            add(
                "timeline",
                "The relay has an entry of \(first.date.rfc3339InSeconds)"
                    + "\(isProvisional)\(next).", first.date)
        } else {
            add("no_timeline", "There is no timeline for it that this device may read.")
        }
        if let last = known.last {
            add(
                last.refusal == nil ? "reload_accepted" : "reload_refused",
                last.refusal.map { "Apple refused the newest reload: \($0)." }
                    ?? "Apple took the newest reload. It reloads the widgets of every kind of the app.",
                last.at)
        } else {
            add("no_reload", "No reload of this device is on record.")
        }
        for fetch in known.fetches.sorted(by: { $0.at < $1.at }) {
            let (code, what) =
                switch fetch.result {
                case .newest: ("fetched", "fetched the newest")
                case .unchanged: ("fetched", "asked, and has the newest already")
                case .before: ("fetched_before", "fetched what is not the newest any more")
                case .refused(let code, let isStill):
                    (
                        "fetch_refused",
                        "asked, and was refused: \(code)\(isStill ? "" : "; now it would get entries")"
                    )
                }
            let key = fetch.isOfOther ? ", with a key of another user" : ""
            add(code, "\(fetch.name) \(what)\(key).", fetch.at)
        }
        if isSameSince, let change = known.change {
            add(
                "same_content",
                "Version \(change.version) of \(change.activity) changed nothing that this widget "
                    + "gets.", change.at)
        }
        return findings + ReloadExplanation.holders(.widget, known.reload)
    }

    private var commands: [String] {
        var commands = [
            "tombolo timeline ls \(known.kind)", "tombolo device show \(known.device)",
        ]
        if known.reload.holder == .pause { commands.append("tombolo pause") }
        return commands
    }

    /// This explanation, to be included in the explanation of an activity.
    package var surface: Explanation.Surface {
        Explanation.Surface(
            "widget:\(known.kind)", config: known.config, answer: answer, because: because)
    }

    /// Writes the answer to `GET /v1/timelines/{kind}/explain`.
    package func write(membersTo writer: inout JSONWriter) {
        writer.member("kind", known.kind.rawValue)
        writer.member("device", known.device.rawValue)
        writer.optional("config", known.config.isEmpty ? nil : configText)
        writer.member("question", question)
        writer.member("answer", answer)
        Explanation.write(because, to: &writer)
        writer.array("try", of: commands) { $0.string($1) }
    }
}
