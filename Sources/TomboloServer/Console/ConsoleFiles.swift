import CConsoleAssets
import TomboloCrypto
import TomboloHTTP

/// The console's files: compiled in, or read from a directory at each request during development.
package struct ConsoleFiles: Sendable {
    struct File: Sendable {
        var body: [UInt8]
        var mediaType: String
        /// The entity tag, in quotes (RFC 9110, section 8.8.3).
        var entityTag: String
        /// The body compressed with gzip; nil for a file from a directory, or if gzip is no gain.
        var gzip: [UInt8]?

        init(_ body: [UInt8], mediaType: String, isConstant: Bool = false) {
            self.body = body
            self.mediaType = mediaType
            entityTag = Self.entityTag(body)
            gzip = isConstant ? GzipBytes.compress(body) : nil
        }

        /// The file compressed with gzip, with an entity tag of its own because it is another
        /// representation.
        var compressed: File? {
            guard let gzip else { return nil }
            var file = self
            (file.body, file.entityTag) = (gzip, Self.entityTag(gzip))
            return file
        }

        private static func entityTag(_ body: [UInt8]) -> String {
            "\"" + Hex.encode(Array(SHA256.digest(body).prefix(8))) + "\""
        }
    }

    private let read: @Sendable (String) -> [UInt8]?
    private let isConstant: Bool

    /// The compiled-in files.
    package static let embedded = ConsoleFiles(isConstant: true) { name in
        all[name]?.body
    }

    /// Gets files from `read`, which returns nil for a missing file. The names that it is given
    /// have letters, digits, dots and dashes, and begin with a letter.
    package init(_ read: @escaping @Sendable (String) -> [UInt8]?) {
        self.init(isConstant: false, read)
    }

    private init(isConstant: Bool, _ read: @escaping @Sendable (String) -> [UInt8]?) {
        self.isConstant = isConstant
        self.read = read
    }

    /// The file with this name; nil if it is missing or has an unknown extension.
    func file(_ name: String) -> File? {
        guard let mediaType = Self.mediaType(name) else { return nil }
        if isConstant { return Self.all[name] }
        return read(name).map { File($0, mediaType: mediaType) }
    }

    /// The names of the compiled-in files.
    package static var names: [String] { all.keys.sorted() }

    private static let all: [String: File] = {
        var files: [String: File] = [:]
        for index in 0..<tombolo_console_asset_count() {
            let asset = tombolo_console_asset(index)
            let name = String(cString: asset.name)
            guard let type = mediaType(name) else { continue }
            let bytes = UnsafeBufferPointer(start: asset.bytes, count: asset.count)
            files[name] = File(Array(bytes), mediaType: type, isConstant: true)
        }
        return files
    }()

    private static let mediaTypes = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
    ]

    private static func mediaType(_ name: String) -> String? {
        let isPlain = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x2d
                || byte == 0x2e
        }
        guard isPlain, name.utf8.first.map({ (0x61...0x7a).contains($0) }) ?? false,
            let ending = name.split(separator: ".").last
        else { return nil }
        return mediaTypes[String(ending)]
    }
}
