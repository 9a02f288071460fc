import Glibc
import TomboloCrypto

/// Looks at the files that a configuration names.
struct ConfigurationFiles: Sendable {
    struct Fault: Sendable {
        var text: String
        var remedy: String
    }

    private let sources: ConfigurationSources

    init(_ sources: ConfigurationSources) { self.sources = sources }

    /// What would keep a relay from starting, each with its place and its fix.
    var faults: [Fault] {
        let configuration = sources.configuration
        var faults: [Fault] = []
        if let tls = configuration.tls {
            faults += readable(tls.certificate, "/tls/certificate")
            faults += secret(tls.key, "/tls/key")
        }
        for (index, app) in configuration.apps.enumerated() {
            let pointer = "/apps/\(index)"
            faults += pushKey(app.keyFile, "\(pointer)/key_file")
            if let ca = app.caFile { faults += readable(ca, "\(pointer)/ca_file") }
        }
        return faults
    }

    private func readable(_ path: String, _ pointer: String) -> [Fault] {
        do {
            _ = try FileBytes.read(path)
            return []
        } catch {
            return [fault(pointer, "\(path) cannot be read: \(error)", "ls -l \(path)")]
        }
    }

    /// A file that nobody but its owner may read.
    private func secret(_ path: String, _ pointer: String) -> [Fault] {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & 0o077 != 0 {
            return [
                fault(pointer, "\(path) is a secret that others may read", "chmod 600 \(path)")
            ]
        }
        return readable(path, pointer)
    }

    private func pushKey(_ path: String, _ pointer: String) -> [Fault] {
        let faults = secret(path, pointer)
        guard faults.isEmpty else { return faults }
        do {
            _ = try P256PrivateKey(pkcs8PEM: try FileBytes.read(path))
            return []
        } catch {
            return [
                fault(
                    pointer, "\(path) is no push key: \(error)",
                    "download the AuthKey_….p8 again from Apple's developer pages")
            ]
        }
    }

    private func fault(_ pointer: String, _ text: String, _ remedy: String) -> Fault {
        Fault(text: "\(sources.place(of: pointer)): \(text)", remedy: remedy)
    }
}
