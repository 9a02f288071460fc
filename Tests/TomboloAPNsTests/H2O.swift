import Glibc
import TestSupport
import TomboloCrypto
import TomboloHTTP

/// h2o over TLS, in the part of Apple, where it is installed: it answers 200 to everything, and
/// ends its connections when it is told to.
///
/// `@unchecked Sendable`: its test serialises, which uses it step by step.
final class H2O: @unchecked Sendable {
    private static let program = "h2o"
    static let isInstalled = Subprocess.isInstalled(program)

    let port: Int
    /// What a client must trust.
    let authorities: [UInt8]
    private let directory: String
    private var process: Subprocess?

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
        try start(listener)
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
        process?.signal(signal)
        process?.wait()
        process = nil
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

    private func start(_ listener: Int32) throws {
        process = try Subprocess(
            Self.program, ["-m", "worker", "-c", "\(directory)/h2o.conf"],
            environment: ["SERVER_STARTER_PORT=127.0.0.1:\(port)=3"],
            streams: [3: .descriptor(listener)])
    }

    private func write(_ bytes: [UInt8], _ name: String) {
        let file = fopen("\(directory)/\(name)", "w")
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }
}
