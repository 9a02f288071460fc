import Glibc

/// The object files of the build that runs this test.
enum Objects {
    static let areThere = (try? files(of: "TomboloCore").isEmpty) == false  // no folder, no files

    /// A target that was built left nothing to read.
    struct NothingRead: Error { let target: String }

    /// What all object files of a target need from elsewhere. Another file of the target may have
    /// it.
    static func undefinedSymbols(of target: String) throws -> Set<String> {
        let objects = try files(of: target).compactMap { ELFObject(try Directory.bytes(of: $0)) }
        guard !objects.isEmpty else { throw NothingRead(target: target) }
        return objects.reduce(into: []) { $0.formUnion($1.undefinedSymbols) }
    }

    private static func files(of target: String) throws -> [String] {
        let folder = "\(buildFolder)/\(target).build"
        return try Directory.files(below: folder).filter { $0.hasSuffix(".o") }.map {
            folder + "/" + $0
        }
    }

    /// The folder of the running program: `.build/…/debug`.
    private static var buildFolder: String {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = bytes.withUnsafeMutableBytes {
            readlink(
                "/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
        }
        let path = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        return path.split(separator: "/").dropLast().reduce(into: "") { $0 += "/" + $1 }
    }
}
