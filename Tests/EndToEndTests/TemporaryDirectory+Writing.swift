import Glibc

@testable import TomboloProgram

extension TemporaryDirectory {
    /// Writes a file; answers its path.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try FileBytes.write(Array(text.utf8), to: "\(path)/\(name)")
        return "\(path)/\(name)"
    }
}
