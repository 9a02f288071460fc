import Glibc
import TomboloCrypto
import TomboloHTTP

/// h2o over TLS, in the part of Apple, where it is installed: it answers 200 to everything, and
/// ends its connections when it is told to.
///
/// `@unchecked Sendable`: its test serialises, which uses it step by step.
final class H2O: @unchecked Sendable {
    static let program = "/usr/bin/h2o"
    static var isInstalled: Bool { access(program, X_OK) == 0 }

    let port: Int
    /// What a client must trust.
    let authorities: [UInt8]
    private let directory: String
    private var process: pid_t = 0

    /// `streams`: what it allows on one connection.
    init(streams: Int) throws {
        directory = "/tmp/tombolo-h2o-\(Hex.encode(RandomBytes.make(8)))"
        mkdir(directory, 0o700)
        // As nginx does, h2o takes over a socket that listens already.
        let listener: Int32
        (listener, port) = listenOnLoopback()
        defer { close(listener) }
        let now = Int64(time(nil))
        let authority = try EphemeralCertificateAuthority(unixTime: now)
        authorities = authority.certificate
        let server = try authority.issueServer(unixTime: now)
        write(server.certificateChain, "certificate.pem")
        write(server.privateKey, "key.pem")
        write([UInt8](configuration(streams).utf8), "h2o.conf")
        start(listener)
    }

    var url: String { "https://127.0.0.1:\(port)" }

    /// Ends it as its operator would: requests that came are answered. Answers the `apns-id`s of
    /// all that it answered with 200, in their order.
    func drain() -> [String] {
        end(with: SIGTERM)
        defer { remove() }
        guard let file = fopen("\(directory)/requests.log", "r") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let character = fgetc(file), character >= 0 { bytes.append(UInt8(character)) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let columns = line.split(separator: " ")
            return columns.count == 2 && columns[0] == "200" ? String(columns[1]) : nil
        }
    }

    /// Without effect after `drain`.
    func stop() {
        end(with: SIGKILL)
        remove()
    }

    private func end(with signal: Int32) {
        guard process > 0 else { return }
        kill(process, signal)
        waitpid(process, nil, 0)
        process = 0
    }

    private func remove() { system("rm -rf '\(directory)'") }

    private func configuration(_ streams: Int) -> String {
        """
        num-threads: 1
        user: \(String(cString: getpwuid(getuid()).pointee.pw_name))
        http2-max-concurrent-requests-per-connection: \(streams)
        access-log: { path: \(directory)/requests.log, format: "%s %{apns-id}i" }
        hosts:
          default:
            listen:
              host: 127.0.0.1
              port: \(port)
              ssl:
                certificate-file: \(directory)/certificate.pem
                key-file: \(directory)/key.pem
            paths: { "/": { mruby.handler: "Proc.new { |env| [200, {}, []] }" } }
        """
    }

    private func start(_ listener: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, listener, 3)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The thread of a test blocks signals, and what it starts would never hear of one.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let arguments = [Self.program, "-m", "worker", "-c", "\(directory)/h2o.conf"]
        var argv = arguments.map { strdup($0) } + [nil]
        var environment = [strdup("SERVER_STARTER_PORT=127.0.0.1:\(port)=3"), nil]
        let code = posix_spawn(&process, Self.program, &actions, &attributes, &argv, &environment)
        precondition(code == 0, "h2o cannot be started: apt-get install h2o")
    }

    private func write(_ bytes: [UInt8], _ name: String) {
        let file = fopen("\(directory)/\(name)", "w")
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }
}
