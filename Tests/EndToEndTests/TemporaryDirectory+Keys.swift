import Glibc
import Testing

@testable import TomboloProgram

extension TemporaryDirectory {
    /// Makes a push key as Apple would give it; answers its path.
    @discardableResult
    func pushKey(_ name: String) throws -> String {
        let file = "\(path)/\(name)"
        try make(
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-out", file)
        chmod(file, 0o600)
        return file
    }

    /// Makes `NAME.pem` and `NAME.key` for this machine, valid for so many days from `clock` (as
    /// faketime(1) reads it; nil: now). Answers the members of `"tls"` in a configuration.
    @discardableResult
    func certificate(_ name: String, days: Int = 90, at clock: String? = nil) throws -> String {
        let file = "\(path)/\(name)"
        try make(
            (clock.map(Shell.faketime) ?? []) + [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-nodes", "-keyout", "\(file).key", "-out", "\(file).pem", "-days", "\(days)",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
            ])
        chmod("\(file).key", 0o600)
        return #"{"certificate":"\#(file).pem","key":"\#(file).key"}"#
    }

    private func make(_ words: String...) throws { try make(words) }

    private func make(_ words: [String]) throws {
        let made = try Shell.run(words)
        try #require(made.status == 0, "\(made.errors)")
    }
}
