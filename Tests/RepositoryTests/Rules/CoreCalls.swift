/// Which functions of `Core` call each other, read from names and argument labels.
///
/// A call that fits several functions counts for all of them: a circle that is not there is better
/// than one that nobody sees.
struct CoreCalls {
    private struct Function {
        let name: String
        /// A label of each parameter, `_` where it has none, and whether it may be left out.
        let parameters: [(label: String, hasDefault: Bool)]
        let body: Range<Int>
        let file: SwiftFile

        var signature: String { "\(name)(\(parameters.map { $0.label + ":" }.joined()))" }

        func takes(_ labels: [String]) -> Bool {
            var left = labels[...]
            for parameter in parameters {
                if left.first == parameter.label {
                    left.removeFirst()
                } else if !parameter.hasDefault {
                    // The last argument may be a closure behind the brackets.
                    return left.isEmpty && parameter.label == parameters.last?.label
                }
            }
            return left.isEmpty
        }
    }

    /// For each function, by its signature, those that it calls.
    private var calls: [String: Set<String>] = [:]
    /// For each file with functions of `Core`, the other files whose functions it calls.
    private(set) var files: [String: Set<String>] = [:]

    init(_ files: [SwiftFile]) {
        let functions = files.flatMap { file in
            CoreShape.bodies(in: file).flatMap { Self.functions(in: file, $0) }
        }
        let byName = Dictionary(grouping: functions, by: \.name)
        for function in functions {
            var called: Set<String> = []
            for index in function.body {
                guard let known = byName[function.file.tokens[index].text],
                    let labels = Self.labels(ofCall: index, in: function.file)
                else { continue }
                let meant = known.filter { $0.takes(labels) }
                called.formUnion(meant.map(\.signature))
                let others = meant.map(\.file.path).filter { $0 != function.file.path }
                self.files[function.file.path, default: []].formUnion(others)
            }
            calls[function.signature, default: []].formUnion(called)
        }
    }

    /// Functions that call themselves, at once or by way of others.
    var recursive: [String] {
        calls.keys.filter { Arrows(calls).reach($0).contains($0) }.sorted()
    }

    private static func functions(in file: SwiftFile, _ brace: Int) -> [Function] {
        CoreShape.members(of: brace, in: file).compactMap { index in
            guard file.tokens[index].isCode("func"),
                let open = CoreShape.openingOfParameters(index, in: file),
                let end = file.closings[open],
                let body = file.tokens[end...].firstIndex(where: { $0.isCode("{") }),
                let last = file.closings[body]
            else { return nil }
            return Function(
                name: file.tokens[index + 1].text,
                parameters: arguments(open, in: file).map { argument in
                    (
                        label: file.tokens[argument.lowerBound].text,
                        hasDefault: argument.contains { file.tokens[$0].isCode("=") }
                    )
                },
                body: body..<last, file: file)
        }
    }

    /// The labels of a call; nil where it is none, or one of something else.
    private static func labels(ofCall index: Int, in file: SwiftFile) -> [String]? {
        guard index + 1 < file.tokens.count, file.tokens[index].kind != .string,
            file.tokens[index + 1].isCode("("), !file.tokens[index - 1].isCode("func")
        else { return nil }
        if file.tokens[index - 1].isCode("."), !file.tokens[index - 2].isCode("self") { return nil }
        return arguments(index + 1, in: file).map { argument in
            let isLabelled =
                argument.count > 1 && file.tokens[argument.lowerBound + 1].isCode(":")
            return isLabelled ? file.tokens[argument.lowerBound].text : "_"
        }
    }

    /// The tokens of each argument: between an opening bracket, commas and the closing one.
    private static func arguments(_ open: Int, in file: SwiftFile) -> [Range<Int>] {
        guard let end = file.closings[open], end > open + 1 else { return [] }
        var (found, start): ([Range<Int>], Int) = ([], open + 1)
        var index = start
        while index < end {
            if file.tokens[index].isCode(",") {
                found.append(start..<index)
                start = index + 1
            }
            index = (file.closings[index] ?? index) + 1
        }
        return found + [start..<end]
    }
}

/// Who leads to whom, by name.
struct Arrows {
    let arrows: [String: Set<String>]

    init(_ arrows: [String: Set<String>]) { self.arrows = arrows }

    /// All that can be reached, by however many arrows.
    func reach(_ name: String) -> Set<String> {
        var reached: Set<String> = []
        var waiting = [name]
        while let next = waiting.popLast() {
            for other in arrows[next] ?? [] where reached.insert(other).inserted {
                waiting.append(other)
            }
        }
        return reached
    }

    /// The pairs that lead to each other at once.
    var twoWay: [String] {
        arrows.flatMap { name, others in
            others.filter { name < $0 && arrows[$0]?.contains(name) == true }
                .map { "\(name) and \($0)" }
        }.sorted()
    }

    /// How many reach each other.
    var largestCircle: Int {
        let reached = Dictionary(uniqueKeysWithValues: arrows.keys.map { ($0, reach($0)) })
        return reached.map { name, others in
            others.count { $0 == name || reached[$0]?.contains(name) == true }
        }.max() ?? 0
    }
}
