/// `Package.swift` as text: the targets and their arrows.
struct Manifest {
    struct Target: Equatable {
        let name: String
        let dependencies: Set<String>
        /// Whether the call names the house's settings; `room` and `tests` always give them.
        let hasSettings: Bool
    }

    let targets: [Target]

    /// Reads the calls `room`, `tests`, `.target`, `.executableTarget`, `.testTarget` and
    /// `.systemLibrary` whose name is a literal; a form that it does not know yields no target,
    /// which the table of rooms then misses.
    init(text: String) {
        let file = SwiftFile(path: "Package.swift", text: text)
        var found: [Target] = []
        var index = 0
        while index < file.tokens.count {
            if let (target, end) = Self.target(at: index, in: file) {
                found.append(target)
                index = end
            }
            index += 1
        }
        targets = found
    }

    /// The names that a target reaches, itself left out.
    func closure(of name: String) -> Set<String> {
        var reached: Set<String> = []
        var waiting = [name]
        while let next = waiting.popLast() {
            let arrows = targets.first { $0.name == next }?.dependencies ?? []
            for arrow in arrows where reached.insert(arrow).inserted { waiting.append(arrow) }
        }
        return reached
    }

    private static let ownCalls = ["room", "tests"]
    private static let packageCalls = ["target", "executableTarget", "testTarget", "systemLibrary"]

    private static func target(at index: Int, in file: SwiftFile) -> (Target, end: Int)? {
        let tokens = file.tokens
        guard index + 1 < tokens.count, tokens[index + 1].isCode("("),
            let end = file.closings[index + 1], tokens[index].kind == .word
        else { return nil }
        let before = index > 0 ? tokens[index - 1].text : ""
        let isOwn = ownCalls.contains(tokens[index].text) && before != "func"
        let isPackages = packageCalls.contains(tokens[index].text) && before == "."
        guard isOwn || isPackages else { return nil }
        let nameAt = index + (isOwn ? 2 : 4)
        guard nameAt < end, tokens[nameAt].kind == .string else { return nil }
        let hasSettings =
            isOwn
            || (index..<end).contains {
                tokens[$0].isCode("swiftSettings") && tokens[$0 + 1].isCode(":")
                    && tokens[$0 + 2].isCode("settings")
            }
        let target = Target(
            name: tokens[nameAt].text,
            dependencies: dependencies(from: nameAt + 1, to: end, isLabelled: isPackages, in: file),
            hasSettings: hasSettings)
        return (target, end)
    }

    /// The strings of the call's list of dependencies; of `.target(name: …, condition: …)` the
    /// name.
    private static func dependencies(
        from start: Int, to end: Int, isLabelled: Bool, in file: SwiftFile
    ) -> Set<String> {
        let tokens = file.tokens
        let list = (start..<end).first {
            tokens[$0].isCode("[") && (!isLabelled || tokens[$0 - 2].isCode("dependencies"))
        }
        guard let list, let close = file.closings[list] else { return [] }
        var names: Set<String> = []
        var index = list + 1
        while index < close {
            if tokens[index].kind == .string { names.insert(tokens[index].text) }
            if tokens[index].isCode("("), let inner = file.closings[index] {
                if tokens[index + 1].isCode("name") { names.insert(tokens[index + 3].text) }
                index = inner
            }
            index += 1
        }
        return names
    }
}
