import Glibc

/// A fresh directory of the owner's alone (0700), which goes with this object and all that is in
/// it.
final class TemporaryDirectory: Sendable {
    let path: String

    /// Makes it in `TMPDIR`, or `/tmp`.
    init() throws(ProgramError) {
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

    /// Links are removed, not followed. What cannot be removed stays: it is in a directory for such
    /// things.
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
