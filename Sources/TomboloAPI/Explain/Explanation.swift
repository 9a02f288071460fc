package import TomboloCore
package import TomboloJSON

/// The answer to "why did this phone not show that version?".
package struct Explanation: AnswerObject, Sendable {
    /// A known fact, as a sentence.
    package struct Finding: Hashable, Sendable {
        /// A code for programs: a result, a reason, or a code that only explanations use.
        package var code: String
        package var text: String
        package var at: Instant?

        package init(_ code: String, _ text: String, at: Instant? = nil) {
            self.code = code
            self.text = text
            self.at = at
        }
    }

    /// A possible cause that fits the findings.
    package struct Suspect: Hashable, Sendable {
        package var code: String
        package var text: String
        /// The evidence for this cause, one sentence for each fact.
        package var speaksFor: [String]
        /// The evidence against it.
        package var speaksAgainst: [String] = []

        package init(_ code: String, _ text: String, speaksFor: [String]) {
            self.code = code
            self.text = text
            self.speaksFor = speaksFor
        }
    }

    /// A widget or control that shows the activity on the device.
    package struct Surface: Hashable, Sendable {
        /// `widget:KIND` or `control:KIND`, as in tokens; `widget` means all widgets of the app.
        package var name: String
        /// The configuration ids of a widget; empty if it has none.
        package var config: [Identifier]
        package var answer: String
        package var because: [Finding]

        /// - Parameter config: empty for a control, or for a widget without configuration.
        package init(
            _ name: String, config: [Identifier] = [], answer: String, because: [Finding]
        ) {
            (self.name, self.config) = (name, config)
            (self.answer, self.because) = (answer, because)
        }
    }

    package var activity: Identifier
    /// Nil if the explanation is about several recipients.
    package var recipient: Recipient?
    package var version: Int64
    /// The trace id of the version's event, if a delivery has it.
    package var trace: TraceID?
    package var question: String
    package var answer: String
    /// The findings, in order of time. Those without a time come last.
    package var because: [Finding] = []
    /// Possible causes, the most likely first. Empty if the phone shows the version.
    package var suspects: [Suspect] = []
    /// Widgets and controls of the device. Empty if the question is about an older version.
    package var surfaces: [Surface] = []
    /// Commands that help to find out more.
    package var commands: [String] = []

    package init(
        activity: Identifier, recipient: Recipient?, version: Int64, question: String,
        answer: String
    ) {
        self.activity = activity
        self.recipient = recipient
        self.version = version
        self.question = question
        self.answer = answer
    }

    package func write(membersTo writer: inout JSONWriter) {
        writer.member("activity", activity.rawValue)
        writer.nullable(recipient?.member ?? "device", recipient?.name.rawValue)
        writer.member("version", version)
        writer.optional("trace_id", trace?.text)
        writer.member("question", question)
        writer.member("answer", answer)
        Self.write(because, to: &writer)
        writer.array("suspects", of: suspects) { writer, suspect in
            writer.object { writer in
                writer.member("code", suspect.code)
                writer.member("text", suspect.text)
                writer.array("speaks_for", of: suspect.speaksFor) { $0.string($1) }
                if !suspect.speaksAgainst.isEmpty {
                    writer.array("speaks_against", of: suspect.speaksAgainst) { $0.string($1) }
                }
            }
        }
        if !surfaces.isEmpty {
            writer.array("surfaces", of: surfaces) { writer, surface in
                writer.object { writer in
                    writer.member("surface", surface.name)
                    if !surface.config.isEmpty {
                        writer.member(
                            "config", surface.config.map(\.rawValue).joined(separator: ","))
                    }
                    writer.member("answer", surface.answer)
                    Self.write(surface.because, to: &writer)
                }
            }
        }
        writer.array("try", of: commands) { $0.string($1) }
    }

    static func write(_ findings: [Finding], to writer: inout JSONWriter) {
        writer.array("because", of: findings) { writer, finding in
            writer.object { writer in
                writer.member("code", finding.code)
                writer.member("text", finding.text)
                writer.optional("at", finding.at?.rfc3339)
            }
        }
    }
}

extension Explanation {
    /// One explanation from those of several devices: a finding for each device, and the causes of
    /// the first device that has any.
    ///
    /// - Parameter left: number of further devices that were left out.
    package init(of all: [Explanation], activity: Identifier, version: Int64, left: Int) {
        let missing = all.filter { !$0.suspects.isEmpty }
        self.init(
            activity: activity, recipient: nil, version: version,
            question: "Who shows version \(version) of \(activity), and who does not?",
            answer: all.isEmpty
                ? "\(activity) goes to no device: nobody is in its audience, or no phone of it is "
                    + "registered."
                : missing.isEmpty
                    ? "Nothing speaks against it that all \(all.count) devices that were looked at show "
                        + "version \(version)."
                    : "\(missing.count) of the \(all.count) devices that were looked at may not show "
                        + "version \(version).")
        because = all.map { one in
            let code = one.suspects.first?.code ?? "accepted"
            return Finding(code, "\(one.recipient?.name.rawValue ?? ""): \(one.answer)")
        }
        if left > 0 {
            because.append(Finding("left_out", "\(left) more devices are not looked at."))
        }
        suspects = missing.first?.suspects ?? []
        commands = missing.prefix(3).compactMap { one in
            one.recipient.map { "tombolo why \(activity) \($0.name) \(version)" }
        }
        if all.isEmpty { commands = ["tombolo activity show \(activity)"] }
    }
}
