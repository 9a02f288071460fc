import Glibc

/// A directory that goes with its owner.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/tombolo-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestFailure("no temporary directory") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        nftw(path, { path, _, _, _ in remove(path) }, 16, FTW_DEPTH.rawValue | FTW_PHYS.rawValue)
    }

    /// Writes a file; answers its path.
    @discardableResult
    func write(_ name: String, _ text: String, mode: mode_t = 0o644) throws -> String {
        try write(name, Array(text.utf8), mode: mode)
    }

    @discardableResult
    func write(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o644) throws -> String {
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw TestFailure("cannot write \(file)") }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw TestFailure("cannot write \(file)") }
            rest = rest.dropFirst(count)
        }
        return file
    }
}
