import Glibc
import TomboloCore
import TomboloJSON

/// The configuration in force, and the source of each value. Flags come before the environment, the
/// environment before the file, and the file before defaults.
struct ConfigurationSources: Sendable {
    let configuration: Configuration
    let file: ConfigurationFile?
    /// For each pointer whose value does not come from the file: the flag or variable that gave it.
    private let origins: [String: String]

    /// Merges the sources. `path` is used instead of `--config`. `socket` is the address of an
    /// inherited socket, which is used instead of any other address.
    init(
        _ invocation: Invocation, path: String? = nil, socket: SocketAddressText? = nil
    ) throws(ProgramError) {
        let path = path ?? invocation.text(.configuration)
        let file = try path.map { path throws(ProgramError) in try ConfigurationFile(path: path) }
        var configuration: Configuration
        do throws(FieldErrors) {
            let empty = JSON.emptyObject.document
            configuration = try Configuration(
                reading: (file?.document ?? empty).root, directory: file?.directory ?? ".")
        } catch {
            guard let file else { throw ProgramError("\(error)") }
            throw file.error(error)
        }
        self.file = file
        var origins = try Self.overlay(invocation, onto: &configuration)
        if let socket {
            configuration.listen = socket
            origins["/listen"] = "the service manager's socket"
        }
        self.origins = origins
        self.configuration = configuration
        if let objection = configuration.homeObjection {
            throw .usage(
                "\(place(of: "/database")): \(objection); data is from \(place(of: "/data"))",
                remedy: "take one of them away")
        }
        if let objection = configuration.listenerObjection {
            let place = place(of: "/listen")
            throw .usage(
                "\(place): \(objection)",
                remedy: "set \"tls\": {\"certificate\": …, \"key\": …}, or \"insecure\": true, in "
                    + (file?.path ?? "a --config file"))
        }
    }

    /// The source of a value: `FILE:LINE:COLUMN`, a flag, a variable, or `default`.
    func place(of pointer: String) -> String {
        origins[pointer] ?? file?.place(of: pointer) ?? "default"
    }

    private static func overlay(
        _ invocation: Invocation, onto configuration: inout Configuration
    ) throws(ProgramError) -> [String: String] {
        var origins: [String: String] = [:]
        func value(_ name: String, _ pointer: String) -> String? {
            guard let flag = invocation.flags.first(where: { $0.name == name }),
                let (text, source) = invocation.resolve(flag)
            else { return nil }
            origins[pointer] = source == .flag ? "flag --\(name)" : source.text
            return text
        }
        if let listen = value("listen", "/listen").flatMap(SocketAddressText.init) {
            configuration.listen = listen
        }
        if let data = value("data", "/data") { configuration.data = data }
        if let url = value("database", "/database") {
            configuration.database = try Configuration.Database(url: url)
        }
        if let log = value("log", "/log").flatMap(OperatorLogFormat.init) {
            configuration.logFormat = log
        }
        let certificate =
            value("tls-certificate", "/tls/certificate") ?? configuration.tls?.certificate
        let key = value("tls-key", "/tls/key") ?? configuration.tls?.key
        switch (certificate, key) {
        case (let certificate?, let key?):
            configuration.tls = Configuration.TLS(certificate: certificate, key: key)
        case (nil, nil): break
        case (nil, _):
            throw .usage("--tls-key needs --tls-certificate", remedy: "tombolo help serve")
        case (_, nil):
            throw .usage("--tls-certificate needs --tls-key", remedy: "tombolo help serve")
        }
        if let directory = invocation.text(.credentials) {
            for index in configuration.apps.indices {
                configuration.apps[index].keyFile = credential(
                    configuration.apps[index].keyFile, in: directory)
            }
            configuration.tls = configuration.tls.map { files in
                Configuration.TLS(
                    certificate: credential(files.certificate, in: directory),
                    key: credential(files.key, in: directory))
            }
        }
        return origins
    }

    /// The original path of a credential that systemd has copied. For `LoadCredential=ID:DIRECTORY`
    /// systemd names the copy of each FILE in the directory `ID_FILE`; for a single file it is
    /// `ID`.
    private static func credential(_ path: String, in directory: String) -> String {
        guard path.hasPrefix(CheckedApp.credentials), let name = path.split(separator: "/").last
        else { return path }
        let whole = "\(directory)/\(name)"
        guard access(whole, F_OK) != 0, let line = name.firstIndex(of: "_") else { return whole }
        return "\(directory)/\(name[name.index(after: line)...])"
    }
}
