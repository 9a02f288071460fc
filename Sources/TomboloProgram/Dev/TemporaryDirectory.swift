import Glibc

/// A new directory that only its owner can use (0700). When this object is released, the directory
/// and its contents are removed.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// Makes the directory in `TMPDIR`, or in `/tmp`.
    package init() throws(ProgramError) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/tombolo.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ProgramError(
                "no directory can be made in \(parent): \(SystemError(errno))",
                remedy: "name another with --data DIR")
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { Self.removeTree(path) }

    /// Removes links without following them. Ignores failures, because the directory is temporary.
    private static func removeTree(_ path: String) {
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                guard name != ".", name != ".." else { continue }
                let child = "\(path)/\(name)"
                var status = stat()
                let isDirectory = lstat(child, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
                if isDirectory { removeTree(child) } else { unlink(child) }
            }
            closedir(directory)
        }
        rmdir(path)
    }
}
