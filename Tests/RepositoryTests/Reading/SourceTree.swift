/// The tree that this test was compiled from.
struct SourceTree {
    /// The absolute path of the folder with `Package.swift`.
    let root: String
    /// All Swift files below `Sources` and `Tests`, but those for phones.
    let swiftFiles: [SwiftFile]
    /// The kit for phones, and the stubs of Apple's API by which it is checked. They run on Apple's
    /// systems, with tasks, clocks and a main actor, so `KitTests` has rules of its own for them.
    let phoneFiles: [SwiftFile]
    /// All text files, by their path from the top: no build products, no history.
    let texts: [(path: String, text: String)]
    /// The names at the top.
    let topLevel: [String]

    /// The tree of this file, read once.
    static let here = Result { try SourceTree(root: rootOfThisFile) }

    private static var rootOfThisFile: String {
        #filePath.split(separator: "/").dropLast(4).reduce(into: "") { $0 += "/" + $1 }
    }

    /// - Throws: `Directory.ReadError`.
    init(root: String) throws {
        self.root = root
        topLevel = try Directory.entries(root).map(\.name)
        let paths = try Directory.files(below: root, skipping: Self.isNoSource)
        texts = try paths.filter { $0 != ".git" }.compactMap { path in
            let bytes = try Directory.bytes(of: root + "/" + path)
            guard !bytes.prefix(8_192).contains(0) else { return nil }
            return (path, String(decoding: bytes, as: UTF8.self))
        }
        let files: [SwiftFile] = texts.compactMap { path, text in
            guard path.hasSuffix(".swift") else { return nil }
            guard path.hasPrefix("Sources/") || path.hasPrefix("Tests/") else { return nil }
            return SwiftFile(path: path, text: text)
        }
        phoneFiles = files.filter { file in Rooms.ofPhones.contains { file.path.hasPrefix($0) } }
        let others = Set(phoneFiles.map(\.path))
        swiftFiles = files.filter { !others.contains($0.path) }
    }

    var sources: [SwiftFile] { swiftFiles.filter(\.isSource) }

    /// The text of one file; nil when there is none.
    func text(_ path: String) -> String? { texts.first { $0.path == path }?.text }

    /// Build products and history; of the folders with a dot only those with scripts are source.
    private static func isNoSource(_ folder: String) -> Bool {
        let name = folder.split(separator: "/").last ?? ""
        if name.hasPrefix(".") { return name != ".ci" && name != ".github" }
        return name == "__pycache__"
    }
}
