import Glibc

/// The file system, as far as reading a source tree needs it. The paths are absolute.
enum Directory {
    /// The system refused: the call, the path and `errno`.
    struct ReadError: Error {
        let call: String
        let path: String
        let code: Int32
    }

    struct Entry {
        let name: String
        let isDirectory: Bool
    }

    /// What stands in a folder, by name; without `.` and `..`.
    static func entries(_ path: String) throws(ReadError) -> [Entry] {
        guard let stream = opendir(path) else {
            throw ReadError(call: "opendir", path: path, code: errno)
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            guard name != ".", name != ".." else { continue }
            var status = stat()
            guard stat(path + "/" + name, &status) == 0 else { continue }  // a dangling link
            entries.append(
                Entry(name: name, isDirectory: status.st_mode & S_IFMT == S_IFDIR))
        }
        return entries.sorted { $0.name < $1.name }
    }

    /// The paths of all files below a folder, relative to it; folders that `skipping` answers are
    /// left out.
    static func files(
        below path: String, skipping: (String) -> Bool = { _ in false }
    ) throws(ReadError) -> [String] {
        var found: [String] = []
        var folders = [""]
        while let folder = folders.popLast() {
            for entry in try entries(path + "/" + folder) {
                let place = folder + entry.name
                if !entry.isDirectory {
                    found.append(place)
                } else if !skipping(place) {
                    folders.append(place + "/")
                }
            }
        }
        return found.sorted()
    }

    static func bytes(of path: String) throws(ReadError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ReadError(call: "open", path: path, code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw ReadError(call: "fstat", path: path, code: errno)
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let done = bytes.withUnsafeMutableBytes {
                read(descriptor, $0.baseAddress! + count, $0.count - count)
            }
            guard done >= 0 else { throw ReadError(call: "read", path: path, code: errno) }
            if done == 0 { break }
            count += done
        }
        return Array(bytes.prefix(count))
    }
}
