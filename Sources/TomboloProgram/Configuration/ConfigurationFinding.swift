import TomboloRelay

/// A finding about one value of a configuration: a fault with which a relay cannot start, or a
/// notice for the operator.
struct ConfigurationFinding: Hashable, Sendable {
    /// The JSON Pointer of the value.
    var pointer: String
    /// The cause in one sentence, without the place.
    var cause: String
    /// The remedy, if possible as a command.
    var remedy: String
}

/// The error for a refused configuration. It has at least one finding.
package struct ConfigurationFaults: Error, Sendable {
    var findings: [ConfigurationFinding]
}

extension ConfigurationSources {
    /// `FILE:LINE:COLUMN: cause`. It may name a flag or a variable instead.
    func text(_ finding: ConfigurationFinding) -> String {
        let place = place(of: finding.pointer)
        guard place == "default" else { return "\(place): \(finding.cause)" }
        return file.map { "\($0.path): \(finding.cause)" } ?? finding.cause
    }

    func line(_ finding: ConfigurationFinding) -> String {
        "\(text(finding))\n  try: \(finding.remedy)"
    }

    /// The finding as a line of a running relay's log.
    func note(
        _ finding: ConfigurationFinding, _ event: OperatorNote.Event = .configurationNotice
    ) -> OperatorNote {
        let isCertificate = finding.pointer == "/tls/certificate" && event == .configurationNotice
        return OperatorNote(
            .warning, isCertificate ? .certificate : event, text(finding), remedy: finding.remedy)
    }

    /// The checked configuration. If no relay can start with it, throws all findings.
    func checked() throws(ProgramError) -> CheckedConfiguration {
        do {
            return try CheckedConfiguration(configuration)
        } catch {
            var lines = ""
            for finding in error.findings.dropLast() { lines += line(finding) + "\ntombolo: " }
            throw .usage(
                lines + (error.findings.last.map(text) ?? "the configuration is refused"),
                remedy: error.findings.last?.remedy)
        }
    }
}
