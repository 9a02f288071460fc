import Glibc
import TomboloCore
import TomboloJSON

/// A configuration file's text, and the positions of its values.
struct ConfigurationFile: Sendable {
    let path: String
    let document: JSONDocument

    /// Maximum size of a configuration in bytes. It is written by hand: a larger file is wrong.
    static let bytesMax = 4 << 20

    /// Reads and parses the file. Allows comments (`//`, `/* */`), which JSON itself does not have.
    init(path: String) throws(ProgramError) {
        let bytes: [UInt8]
        do {
            bytes = try FileBytes.readRegular(path, atMost: Self.bytesMax)
        } catch {
            throw .usage("\(path) cannot be read: \(error)", remedy: "ls -l \(path)")
        }
        try self.init(bytes, path: path)
    }

    init(_ bytes: [UInt8], path: String) throws(ProgramError) {
        self.path = path
        do {
            document = try JSONDocument(bytes, comments: true)
        } catch {
            throw .usage(
                "\(path):\(error.line):\(error.column): \(error.message)",
                remedy: "edit \(path) at that place")
        }
    }

    /// The directory to which relative paths in the file refer.
    var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// `FILE:LINE:COLUMN` of the value at the pointer. For a member, the position of its name.
    func place(of pointer: String) -> String? {
        guard let parsed = JSONPointer(pointer), let value = document.root.at(parsed) else {
            return nil
        }
        var offset = value.raw.startIndex
        if let name = parsed.tokens.last, let start = start(of: name, before: offset) {
            offset = start
        }
        let place = lineAndColumn(offset)
        return "\(path):\(place.line):\(place.column)"
    }

    /// An error with one line for each fault, which says where in the file the fault is.
    func error(_ faults: FieldErrors) -> ProgramError {
        let lines = faults.errors.map { fault -> String in
            let place = place(of: fault.pointer) ?? nearestPlace(of: fault.pointer)
            let name = fault.pointer.dropFirst().split(separator: "/").joined(separator: ".")
            return "\(place): \(name.isEmpty ? "the configuration" : name): \(fault.message)"
        }
        return .usage(lines.joined(separator: "\ntombolo: "), remedy: "edit \(path) at that place")
    }

    /// The position for a missing field: the object that should contain the field.
    private func nearestPlace(of pointer: String) -> String {
        let parent = pointer.lastIndex(of: "/").map { String(pointer[..<$0]) } ?? ""
        return parent.isEmpty ? "\(path):1:1" : place(of: parent) ?? nearestPlace(of: parent)
    }

    /// The offset of a member's name whose value begins at `offset`. A name written with escapes is
    /// not found.
    private func start(of name: String, before offset: Int) -> Int? {
        let wanted = Array("\"\(name)\"".utf8)
        var start = offset - wanted.count
        while start >= 0 {
            if document.bytes[start..<start + wanted.count].elementsEqual(wanted) { return start }
            start -= 1
        }
        return nil
    }

    private func lineAndColumn(_ offset: Int) -> (line: Int, column: Int) {
        let before = document.bytes[..<offset]
        let lineStart = before.lastIndex(of: 10).map { $0 + 1 } ?? 0
        let column = before[lineStart...].count { $0 & 0xc0 != 0x80 }
        return (before.count { $0 == 10 } + 1, column + 1)
    }
}
