import Glibc
import TestSupport
import TomboloHTTP
import TomboloLoop

extension SubprocessOutput {
    /// Tries to connect until it listens; gives up after ten seconds.
    func waitUntilListening(port: Int, on loop: EpollLoop) async throws {
        let deadline = loop.now + .seconds(60)
        while true {
            do throws(ConnectionError) {
                let probe = try await Connection.dial(
                    host: "127.0.0.1", port: port, tls: nil, on: loop, within: .seconds(30))
                probe.abort()
                return
            } catch {
                guard loop.now < deadline else { throw error }
            }
            try await loop.sleep(for: .milliseconds(5))
        }
    }
}

/// A port that was free a moment ago.
func freePort() throws -> Int {
    let loop = try EpollLoop()
    return try Listener(on: loop, at: ListenAddress(host: "127.0.0.1", port: 0), tls: nil)
        .address.port
}

/// A folder of a test's own.
struct TemporaryFiles: Sendable {
    let path: String
    private struct CannotMake: Error {}

    init() throws {
        var template = Array("/tmp/tombolo-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CannotMake() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = path + "/" + name
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw CannotMake()
        }
        close(descriptor)
        return file
    }

    func remove() {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            unlink(path + "/" + name)
        }
        closedir(folder)
        rmdir(path)
    }
}
