import Glibc
package import TomboloJSON

/// The files of `Protocol/`, as they lie in the repository.
package enum ProtocolFiles {
    package struct Unreadable: Error {
        package let path: String
        package let errno: Int32
    }

    private static let root =
        #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/Protocol/"

    package static func bytes(_ path: String) throws -> [UInt8] {
        let descriptor = open(root + path, O_RDONLY)
        guard descriptor >= 0 else { throw Unreadable(path: path, errno: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            bytes += buffer[..<count]
        }
        return bytes
    }

    package static func json(_ path: String) throws -> JSONView {
        try JSONDocument(try bytes(path)).root
    }

    /// The names in a folder, sorted, without `.json`.
    package static func names(in folder: String) throws -> [String] {
        guard let handle = opendir(root + folder) else {
            throw Unreadable(path: folder, errno: errno)
        }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".json") { names.append(String(name.dropLast(5))) }
        }
        return names.sorted()
    }
}
