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
    /// Where a method is passed as a value, such as `map(wall)`: it takes a copy of the core with
    /// it, and so counts references to all that the core holds.
    private(set) var copies: [String] = []
    private static let takers: Set<String> = [
        "map", "flatMap", "compactMap", "filter", "allSatisfy", "contains", "first", "forEach",
    ]

    init(_ files: [SwiftFile]) {
        let functions = files.flatMap { file in
            CoreShape.bodies(in: file).flatMap { Self.functions(in: file, $0) }
        }
        let byName = Dictionary(grouping: functions, by: \.name)
        for function in functions {
            var called: Set<String> = []
            for index in function.body {
                copies += Self.copy(at: index, in: function.file, byName.keys).map { [$0] } ?? []
                guard let known = byName[function.file.tokens[index].text],
                    let labels = Self.labels(ofCall: index, in: function.file)
                else { continue }
                called.formUnion(known.filter { $0.takes(labels) }.map(\.signature))
            }
            calls[function.signature, default: []].formUnion(called)
        }
    }

    /// Functions that call themselves, at once or by way of others.
    var recursive: [String] {
        calls.keys.filter { reach($0).contains($0) }.sorted()
    }

    /// `map(wall)` or `first(where: isGone)`, with a method of the core's; nil where it is not.
    private static func copy(
        at index: Int, in file: SwiftFile, _ methods: some Collection<String>
    ) -> String? {
        let tokens = file.tokens[index...].prefix(6).map(\.text)
        guard let name = tokens.first, takers.contains(name), tokens.count > 5, tokens[1] == "("
        else { return nil }
        let isLabelled = tokens[2] == "where" && tokens[3] == ":"
        // `contains(wall)` asks for a value.
        guard isLabelled || !["contains", "first"].contains(name) else { return nil }
        let place = isLabelled ? 4 : 2
        guard tokens[place + 1] == ")", methods.contains(tokens[place]) else { return nil }
        return "\(file.path): \(name)(\(tokens[place]))"
    }

    private func reach(_ signature: String) -> Set<String> {
        var reached: Set<String> = []
        var waiting = [signature]
        while let next = waiting.popLast() {
            for other in calls[next] ?? [] where reached.insert(other).inserted {
                waiting.append(other)
            }
        }
        return reached
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
