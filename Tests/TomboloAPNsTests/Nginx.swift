import Glibc
import TestSupport
import Testing
import TomboloCrypto
import TomboloHTTP

/// A server nobody here wrote, in the part of Apple: nginx over TLS with HTTP/2, on a port of its
/// own.
///
/// What it answers to a token stands in `locations`; what it was asked is in `requests()`.
///
/// `@unchecked Sendable`: its test serialises, which uses it step by step.
final class Nginx: @unchecked Sendable {
    fileprivate static let program = "nginx"

    let port: Int
    /// What a client must trust.
    let authorities: [UInt8]
    private let directory: String
    private var process: Subprocess?
    private var logged: [LoggedRequest] = []

    /// `settings` go into the server block: stream limit, requests per connection.
    init(
        settings: String = "", locations: String = Nginx.verdicts, protocols: String = "http2"
    ) throws {
        directory = "/tmp/tombolo-apns-\(Hex.encode(RandomBytes.make(8)))"
        mkdir(directory, 0o700)
        // nginx takes over a socket that listens already (its way of being upgraded): no port is
        // guessed, and no connection is refused while it starts.
        let listener: Int32
        (listener, port) = listenOnLoopback()
        defer { close(listener) }
        let now = Int64(time(nil))
        let authority = try EphemeralCertificateAuthority(unixTime: now)
        authorities = authority.certificate
        let server = try authority.issueServer(unixTime: now)
        write(server.certificateChain, "certificate.pem")
        write(server.privateKey, "key.pem")
        write([UInt8](configuration(settings, locations, protocols).utf8), "nginx.conf")
        try start(listener)
    }

    var url: String { "https://127.0.0.1:\(port)" }

    /// Stops the server and answers what it was asked, in order of the requests' ends. (What it
    /// logs comes after what it answers; only its end is sure to come after both.)
    func requests() -> [LoggedRequest] {
        stop()
        return logged
    }

    /// Cuts all connections; the port refuses from then on. Every test ends with it: a `deinit` may
    /// come after the end of the process.
    func stop() {
        guard let process else { return }
        process.signal(SIGTERM)
        process.wait()
        self.process = nil
        logged = readLog()
        system("rm -r '\(directory)'")
    }

    private func readLog() -> [LoggedRequest] {
        guard let file = fopen("\(directory)/requests.log", "r") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let character = fgetc(file), character >= 0 { bytes.append(UInt8(character)) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
            LoggedRequest(
                $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init))
        }
    }

    /// Verdicts by the token's first digit.
    static let verdicts = """
        default_type application/json;
        location /3/device/a { return 200; }
        location /3/device/b { return 410 '{"reason":"Unregistered","timestamp":1700000000123}'; }
        location /3/device/c { return 429 '{"reason":"TooManyRequests"}'; }
        location /3/device/d { return 503 '{"reason":"ServiceUnavailable"}'; }
        location /3/device/e { return 403 '{"reason":"InvalidProviderToken"}'; }
        location /3/device/f { return 400 '{"reason":"BadDeviceToken"}'; }
        location /3/device/0 { return 403 '{"reason":"ExpiredProviderToken"}'; }
        location /3/device/1 { return 429 '{"reason":"TooManyProviderTokenUpdates"}'; }
        location /3/device/2 { return 200 '{"reason":"not empty"}'; }
        location /3/device/3 { return 502; }
        location /3/device/4 { return 444; }
        location / { return 404; }
        """

    private func configuration(_ settings: String, _ locations: String, _ protocols: String)
        -> String
    {
        """
        daemon off; worker_processes 1; pid \(directory)/pid; error_log \(directory)/error.log;
        events { worker_connections 1000; }
        http {
            log_format push '\(LoggedRequest.format)';
            access_log \(directory)/requests.log push;
            keepalive_requests 1000000;
            client_body_temp_path \(directory)/body; proxy_temp_path \(directory)/proxy;
            fastcgi_temp_path \(directory)/f; uwsgi_temp_path \(directory)/u;
            scgi_temp_path \(directory)/s;
            server {
                listen 127.0.0.1:\(port) ssl \(protocols);
                ssl_certificate \(directory)/certificate.pem;
                ssl_certificate_key \(directory)/key.pem;
                \(settings)
                \(locations)
            }
        }
        """
    }

    private func start(_ listener: Int32) throws {
        process = try Subprocess(
            Self.program, ["-q", "-p", directory, "-c", "\(directory)/nginx.conf"],
            environment: ["NGINX=3;"], streams: [3: .descriptor(listener)])
        waitUntilServing()
    }

    /// Sends what is no handshake, and waits until nginx hangs up on it: it serves then.
    private func waitUntilServing() {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port: UInt16(port))
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafePointer(to: &address) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, length)
            }
        }
        var bytes: [UInt8] = [0x16, 0, 0, 0, 0]
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        while recv(descriptor, &bytes, bytes.count, 0) > 0 {}
    }

    private func write(_ bytes: [UInt8], _ name: String) {
        let file = fopen("\(directory)/\(name)", "w")
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test against nginx where it is not installed.
    static var needsNginx: Self {
        .enabled(if: Subprocess.isInstalled(Nginx.program), "nginx is not installed")
    }
}

/// A request as nginx saw it; `-` where a field was not there.
struct LoggedRequest: Hashable {
    static let format = [
        "status", "request_method", "request_uri", "connection", "http_apns_topic",
        "http_apns_push_type", "http_apns_priority", "http_apns_expiration", "http_apns_id",
        "http_apns_collapse_id", "content_type", "content_length", "http_authorization",
        "http_host",
    ].map { "$\($0)" }.joined(separator: "|")

    let columns: [String]

    init(_ columns: [String]) { self.columns = columns }

    var status: String { columns[0] }
    var connection: String { columns[3] }
    var id: String { columns[8] }
    var authorization: String { columns[12] }
}

/// A socket that listens on a free port of 127.0.0.1. Who connects is taken by the kernel, and
/// never answered unless somebody accepts.
func listenOnLoopback() -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(descriptor, address, length) == 0 && listen(descriptor, 64) == 0
                && getsockname(descriptor, address, &length) == 0
        }
    }
    precondition(bound, "no port on 127.0.0.1")
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}

private func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    return address
}
