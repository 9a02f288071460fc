/// Every import is an arrow of `Package.swift`, or a module of the system that its room may use.
enum ImportRule {
    /// Modules that come with the toolchain. Foundation is not among them: its `Date`, its locks
    /// and its size are what this house does without.
    static let systemModules: Set<String> = ["Glibc", "Synchronization", "_Concurrency"]
    static let testModules: Set<String> = ["Testing"]

    static func violations(in file: SwiftFile, manifest: Manifest) -> [Violation] {
        let arrows = manifest.targets.first { $0.name == file.target }?.dependencies ?? []
        return imports(in: file).compactMap { module, line in
            if file.isSource, let place = Rooms.folders[module],
                !file.path.hasPrefix(place.folder)
            {
                return Violation(
                    path: file.path, line: line,
                    message: "`import \(module)` outside of \(place.folder): \(place.reason)")
            }
            if arrows.contains(module) { return nil }
            if !file.isSource, testModules.contains(module) { return nil }
            let isPure = file.isSource && Rooms.pure.contains(file.target)
            if systemModules.contains(module) {
                guard isPure else { return nil }
                return Violation(
                    path: file.path, line: line,
                    message: "`import \(module)`: \(file.target) is pure and needs no system")
            }
            return Violation(
                path: file.path, line: line,
                message: "`import \(module)` is no arrow of \(file.target) in Package.swift")
        }
    }

    /// The modules a file imports, with the line. Of `import struct Glibc.stat` the module.
    static func imports(in file: SwiftFile) -> [(module: String, line: Int)] {
        let kinds = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
        return (file.places["import"] ?? []).compactMap { index in
            guard index + 1 < file.tokens.count else {
                return nil
            }
            var name = file.tokens[index + 1]
            if kinds.contains(name.text), index + 2 < file.tokens.count {
                name = file.tokens[index + 2]
            }
            return (name.text, file.tokens[index].line)
        }
    }
}
