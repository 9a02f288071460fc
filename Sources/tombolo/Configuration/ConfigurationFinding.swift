import TomboloRelay

/// Something about one value of a configuration: what keeps a relay from starting, or what an
/// operator has to know although it starts.
struct ConfigurationFinding: Hashable, Sendable {
    /// A JSON Pointer to the value.
    var pointer: String
    /// One sentence, without the place.
    var cause: String
    /// The fix, as a command where there is one.
    var remedy: String
}

/// Why a configuration is refused; at least one finding.
struct ConfigurationFaults: Error, Sendable {
    var findings: [ConfigurationFinding]
}

extension ConfigurationSources {
    /// `FILE:LINE:COLUMN: cause`; a value that came from a flag or a variable names that.
    func text(_ finding: ConfigurationFinding) -> String {
        let place = place(of: finding.pointer)
        guard place == "default" else { return "\(place): \(finding.cause)" }
        return file.map { "\($0.path): \(finding.cause)" } ?? finding.cause
    }

    /// The finding with its fix on a second line.
    func line(_ finding: ConfigurationFinding) -> String {
        "\(text(finding))\n  try: \(finding.remedy)"
    }

    /// The finding as what a running relay says of it.
    func note(
        _ finding: ConfigurationFinding, _ event: OperatorNote.Event = .configurationNotice
    ) -> OperatorNote {
        let isCertificate = finding.pointer == "/tls/certificate" && event == .configurationNotice
        return OperatorNote(
            .warning, isCertificate ? .certificate : event, text(finding), remedy: finding.remedy)
    }

    /// What a relay starts with; all findings, each with its own fix, where it does not start.
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
