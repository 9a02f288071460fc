/// At most three functions of a room have the same name, so that a reader knows which one is called
/// without the types of its arguments.
enum OverloadRule {
    static let functionsOfOneNameMax = 3

    /// Names that a protocol or a convention of the house asks for: each type may have one.
    static let conventions: Set<String> = [
        "write", "encode", "decode", "run", "body", "text", "hash", "combine",
    ]

    /// The names that more than three functions of a room have, by `room name`, and how many do.
    /// Operators and initialisers do not count, nor do the requirements of protocols.
    static func counts(_ sources: [SwiftFile]) -> [String: Int] {
        var counts: [String: Int] = [:]
        for file in sources {
            for index in file.places["func"] ?? [] where LengthRule.body(of: index, in: file) != nil
            {
                let name = file.tokens[index + 1]
                guard name.kind == .word, !conventions.contains(name.text) else { continue }
                counts["\(file.target) \(name.text)", default: 0] += 1
            }
        }
        return counts.filter { $0.value > functionsOfOneNameMax }
    }

    /// The table of what is still allowed: `name count` pairs for each room.
    static func table(_ rooms: [String: String]) -> [String: Int] {
        var table: [String: Int] = [:]
        for (room, text) in rooms {
            let words = text.split(whereSeparator: \.isWhitespace)
            for place in stride(from: 0, to: words.count - 1, by: 2) {
                table["\(room) \(words[place])"] = Int(words[place + 1])
            }
        }
        return table
    }
}
