import Glibc
import TomboloJSON

/// The content state on a command line: fields from `-s` and `--text`, an object from a file or
/// stdin, or both. Fields replace members of the object.
enum StateInput {
    /// Maximum size of a state in bytes. A larger file must be the wrong one (Apple's largest
    /// payload is 4,096 bytes).
    static let bytesMax = 1 << 20

    /// Returns the state; nil if none is given. Reads stdin for `--state -`. If `readsInput` is
    /// true, also reads stdin when no flag gives a state and stdin is a pipe or a file.
    static func read(_ context: CommandContext, readsInput: Bool) throws(ProgramError) -> JSON? {
        let fields =
            context.invocation.pairs(.field).map { ($0.name, value($0.value)) }
            + context.invocation.pairs(.textField).map { ($0.name, JSON.string($0.value)) }
        var object: JSON?
        switch context.invocation.text(.stateFile) {
        case "-"?: object = try input(context)
        case let path?:
            object = try Self.object(try FileBytes.given(path, atMost: bytesMax), named: path)
        case nil where fields.isEmpty && readsInput && inputIsData:
            object = try input(context)
        case nil: break
        }
        guard !fields.isEmpty else { return object }
        return try setting(fields, in: object ?? .emptyObject)
    }

    /// Reads a JSON object from a file; `-` is stdin.
    static func object(path: String) throws(ProgramError) -> JSON {
        guard path == "-" else {
            return try object(try FileBytes.given(path, atMost: bytesMax), named: path)
        }
        return try object(try stdin(atMost: bytesMax), named: "stdin")
    }

    static func stdin(atMost limit: Int) throws(ProgramError) -> [UInt8] {
        do {
            return try FileBytes.read(0, atMost: limit)
        } catch {
            throw ProgramError("stdin cannot be read: \(error)")
        }
    }

    /// The value after `=`: JSON if the text is valid JSON, else a string.
    static func value(_ text: String) -> JSON {
        do {
            return try JSON(validating: Array(text.utf8))
        } catch {
            return .string(text)
        }
    }

    /// An object that has only these members.
    static func object(_ fields: [(name: String, value: String)]) throws(ProgramError) -> JSON {
        try setting(fields.map { ($0.name, value($0.value)) }, in: .emptyObject)
    }

    /// A copy of the object with these members added or replaced.
    static func setting(
        _ fields: [(name: String, value: JSON)], in object: JSON
    ) throws(ProgramError) -> JSON {
        var object = object
        var seen: Set<String> = []
        for (name, value) in fields {
            guard seen.insert(name).inserted else {
                throw .usage("\(name)= is given twice", remedy: "give each field once")
            }
            object = object.setting(JSONPointer(tokens: [name]), to: value) ?? object
        }
        return object
    }

    private static func object(_ bytes: [UInt8], named name: String) throws(ProgramError) -> JSON {
        let json: JSON
        do {
            json = try JSON(validating: bytes)
        } catch {
            throw .usage(
                "\(name):\(error.line):\(error.column): \(error.message)",
                remedy: "write a JSON object such as {\"lap\": 1}")
        }
        guard json.document.root.kind == .object else {
            throw .usage("\(name) is not a JSON object", remedy: "write {\"lap\": 1}")
        }
        return json
    }

    private static func input(_ context: CommandContext) throws(ProgramError) -> JSON? {
        warnIfQuiet(context)
        let bytes = try stdin(atMost: bytesMax)
        // An empty stdin means no state: `</dev/null` and many job runners give one.
        let isEmpty = bytes.allSatisfy { $0 == 0x20 || (0x09...0x0d).contains($0) }
        return isEmpty ? nil : try object(bytes, named: "stdin")
    }

    /// Warns after 2 seconds without input, because a pipe may have been left open by mistake.
    private static func warnIfQuiet(_ context: CommandContext) {
        var waiting = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 2_000) == 0 else { return }
        context.terminal.complain(
            "tombolo: waiting for the state on stdin; give -s NAME=VALUE, --state FILE or "
                + "</dev/null instead\n")
    }

    /// True if stdin is a pipe or a file. False for a terminal or `/dev/null`.
    private static var inputIsData: Bool {
        var status = stat()
        guard fstat(0, &status) == 0 else { return false }
        let kind = status.st_mode & S_IFMT
        return kind == S_IFIFO || kind == S_IFREG
    }
}
