/// How much of `TomboloCore` is still one struct, in numbers.
///
/// The core is to become several owners of state that call each other in one direction. Each number
/// is something that a change has to pay for today.
struct CoreShape {
    /// Numbers that may only fall.
    let measures: [String: Int]
    /// Lines of Swift: of each room, of all Sources, and of the folder where rules meet.
    let lines: [String: Int]

    /// The folders that use each other.
    let pairNames: [String]
    /// Functions that call themselves, at once or by way of others.
    let recursive: [String]

    private let sources: [SwiftFile]
    private let core: [SwiftFile]

    init(_ sources: [SwiftFile]) {
        self.sources = sources
        core = sources.filter { $0.target == "TomboloCore" }
        let bodies = core.map { ($0, Self.extensions(in: $0)) }
        let extending = bodies.filter { !$0.1.isEmpty }
        let calls = CoreCalls(core)
        recursive = calls.recursive
        pairNames = FolderPairs(core).arrows.twoWay
        var measures = [
            "stored properties of Core": core.reduce(0) { $0 + Self.storedProperties(in: $1) },
            "functions in extension Core": extending.reduce(0) { sum, file in
                sum + file.1.reduce(0) { $0 + Self.functions(in: file.0, $1).count }
            },
            "calls of evaluate": core.reduce(0) { $0 + Self.calls(of: "evaluate", in: $1) },
            "signatures with effects: inout": core.reduce(0) { sum, file in
                sum + Self.parameters(in: file) { $0 == "effects" && $1 == "inout" }
            },
            "bare Int parameters": core.reduce(0) { sum, file in
                sum
                    + Self.parameters(in: file) {
                        Self.placeNames.contains($0) && $1 == "Int"
                    }
            },
            "functions of Core that call themselves": recursive.count,
            "two-way pairs of folders": pairNames.count,
            "files that extend Core": extending.count,
            "files in the largest circle": Arrows(calls.files).largestCircle,
        ]
        let names = extending.flatMap { file in
            file.1.flatMap { Self.functions(in: file.0, $0) }
        }
        let overloads = Dictionary(grouping: names, by: \.self).mapValues(\.count)
        measures["functions beyond three of one name"] = overloads.values.reduce(0) {
            $0 + max(0, $1 - Self.overloadsMax)
        }
        self.measures = measures
        var lines = Dictionary(grouping: sources, by: \.target).mapValues { files in
            files.reduce(0) { $0 + $1.lines.count - 1 }
        }
        lines["Sources"] = lines.values.reduce(0, +)
        lines["TomboloCore/Machine"] = core.filter { $0.path.contains("/Machine/") }.reduce(0) {
            $0 + $1.lines.count - 1
        }
        self.lines = lines
    }

    /// The table as text, a line for each number.
    var text: String {
        measures.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            .joined(separator: "\n")
    }

    /// Parameters that say a place in a table: their type does not say in which.
    static let placeNames: Set<String> = ["slot", "device", "activity", "place", "index"]
    /// A reader can keep so many functions of one name apart.
    static let overloadsMax = 3

    /// Where the bodies of `extension Core` begin: the indices of their braces.
    static func extensions(in file: SwiftFile) -> [Int] {
        (file.places["extension"] ?? []).compactMap { index in
            guard index + 1 < file.tokens.count, file.tokens[index + 1].isCode("Core"),
                index + 2 < file.tokens.count, !file.tokens[index + 2].isCode(".")
            else { return nil }
            return file.tokens[(index + 1)...].firstIndex { $0.isCode("{") }
        }
    }

    /// Where the bodies of `struct Core` and of its extensions begin.
    static func bodies(in file: SwiftFile) -> [Int] {
        let own = (file.places["struct"] ?? []).filter { file.tokens[$0 + 1].isCode("Core") }
            .compactMap { start in file.tokens[start...].firstIndex { $0.isCode("{") } }
        return own + extensions(in: file)
    }

    /// The stored properties of `struct Core`, those of the type itself left out.
    static func storedProperties(in file: SwiftFile) -> Int {
        guard
            let start = (file.places["struct"] ?? []).first(where: {
                file.tokens[$0 + 1].isCode("Core")
            }), let brace = file.tokens[start...].firstIndex(where: { $0.isCode("{") })
        else { return 0 }
        return members(of: brace, in: file).count { index in
            guard ["var", "let"].contains(where: file.tokens[index].isCode),
                !file.tokens[index - 1].isCode("static")
            else { return false }
            return LengthRule.body(of: index, in: file) == nil
        }
    }

    /// The names of the functions that stand directly in the body, initialisers and subscripts too.
    static func functions(in file: SwiftFile, _ brace: Int) -> [String] {
        members(of: brace, in: file).compactMap { index in
            if file.tokens[index].isCode("func") { return file.tokens[index + 1].text }
            let isOther = ["init", "subscript"].contains(where: file.tokens[index].isCode)
            return isOther ? file.tokens[index].text : nil
        }
    }

    /// The tokens that stand directly between a brace and its closing one.
    static func members(of brace: Int, in file: SwiftFile) -> [Int] {
        guard let end = file.closings[brace] else { return [] }
        var found: [Int] = []
        var index = brace + 1
        while index < end {
            found.append(index)
            index = (file.closings[index] ?? index) + 1
        }
        return found
    }

    static func calls(of name: String, in file: SwiftFile) -> Int {
        (file.places[name] ?? []).count { index in
            index + 1 < file.tokens.count && file.tokens[index + 1].isCode("(")
                && !(index > 0 && file.tokens[index - 1].isCode("func"))
        }
    }

    /// The parameters of functions for which `matches` holds: it gets the name within the function
    /// and the first word of the type.
    static func parameters(in file: SwiftFile, _ matches: (String, String) -> Bool) -> Int {
        ["func", "init", "subscript"].flatMap { file.places[$0] ?? [] }.reduce(0) { sum, keyword in
            guard let open = openingOfParameters(keyword, in: file),
                let end = file.closings[open]
            else { return sum }
            return sum
                + members(of: open, in: file).count { index in
                    file.tokens[index].isCode(":") && index + 1 < end
                        && matches(file.tokens[index - 1].text, file.tokens[index + 1].text)
                }
        }
    }

    static func openingOfParameters(_ keyword: Int, in file: SwiftFile) -> Int? {
        guard keyword == 0 || !file.tokens[keyword - 1].isCode(".") else { return nil }
        let last = min(keyword + 12, file.tokens.count)
        return file.tokens[keyword..<last].firstIndex { $0.isCode("(") }
    }
}

/// Which folders of a room use the types that another one declares.
struct FolderPairs {
    /// For each folder those whose types it uses.
    let arrows: Arrows

    init(_ files: [SwiftFile]) {
        var owners: [String: String] = [:]
        for file in files {
            for name in Self.declared(in: file) { owners[name] = Self.folder(of: file) }
        }
        var arrows: [String: Set<String>] = [:]
        for file in files {
            let nested = Self.nested(in: file)
            let own = Self.folder(of: file)
            for (name, places) in file.places where !nested.contains(name) {
                guard let owner = owners[name], owner != own else { continue }
                let isUsed = places.contains { $0 == 0 || !file.tokens[$0 - 1].isCode(".") }
                if isUsed { arrows[own, default: []].insert(owner) }
            }
        }
        self.arrows = Arrows(arrows)
    }

    private static func folder(of file: SwiftFile) -> String {
        file.path.split(separator: "/").dropFirst(2).dropLast().first.map(String.init) ?? ""
    }

    private static let keywords = ["struct", "enum", "class", "protocol", "typealias", "actor"]

    /// Types that stand in no other.
    private static func declared(in file: SwiftFile) -> [String] {
        types(in: file).filter(\.isOutermost).map(\.name)
    }

    private static func nested(in file: SwiftFile) -> Set<String> {
        Set(types(in: file).filter { !$0.isOutermost }.map(\.name))
    }

    private static func types(in file: SwiftFile) -> [(name: String, isOutermost: Bool)] {
        var depth = 0
        var found: [(String, Bool)] = []
        for (index, token) in file.tokens.enumerated() where token.kind != .string {
            if token.text == "{" { depth += 1 }
            if token.text == "}" { depth -= 1 }
            guard keywords.contains(token.text), index + 1 < file.tokens.count,
                file.tokens[index + 1].text.first?.isUppercase == true
            else { continue }
            found.append((file.tokens[index + 1].text, depth == 0))
        }
        return found
    }
}
