import Glibc

/// A file of a test's own.
struct TemporaryFile: Sendable {
    let path: String
    private struct CannotMake: Error {}

    init(_ text: String) throws {
        var template = Array("/tmp/tombolo-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw CannotMake() }
        defer { close(descriptor) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw CannotMake() }
            rest = rest.dropFirst(count)
        }
    }

    func remove() { unlink(path) }
}

/// A folder of a test's own.
struct TemporaryFolder: Sendable {
    let path: String
    private struct CannotMake: Error {}

    init() throws {
        var template = Array("/tmp/tombolo-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CannotMake() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func remove(_ names: String...) {
        for name in names { unlink("\(path)/\(name)") }
        rmdir(path)
    }
}
