import Glibc
import Testing

@testable import TomboloJSON

/// A value as RFC 7396 sees it, with a patch applied by the RFC's own words: slow and obvious.
private indirect enum Model: Equatable {
    case object([Member])
    case other(String)

    struct Member: Equatable {
        let name: [UInt8]
        var value: Model
    }

    init(_ view: JSONView) {
        if view.kind == .object {
            self = .object(
                view.members.map { Member(name: Array($0.name.utf8), value: Model($0.value)) })
        } else {
            self = .other(String(decoding: view.raw, as: UTF8.self))
        }
    }

    func patched(with patch: Model) -> Model {
        guard case .object(let changes) = patch else { return patch }
        var members: [Member] = []
        if case .object(let own) = self { members = own }
        for change in changes {
            let place = members.firstIndex { $0.name == change.name }
            if change.value == .other("null") {
                if let place { members.remove(at: place) }
            } else if let place {
                members[place].value = members[place].value.patched(with: change.value)
            } else {
                let value = Model.other("").patched(with: change.value)
                members.append(Member(name: change.name, value: value))
            }
        }
        return .object(members)
    }
}

@Suite struct JSONFuzzTests {
    /// `TOMBOLO_FUZZ_ROUNDS` asks for more than the few that every run can afford.
    private static let rounds =
        getenv("TOMBOLO_FUZZ_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 4_000

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `mutated texts are read or refused, and never trap`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var accepted: [JSON] = [.emptyObject]
        var refused = 0
        for round in 0..<Self.rounds {
            let bytes = mutatedText(&generator)
            do {
                let value = try JSON(validating: bytes)
                try check(value)
                let other = try #require(accepted.randomElement(using: &generator))
                let merged = value.mergePatched(with: other)
                #expect(
                    Model(merged.document.root)
                        == Model(value.document.root).patched(with: Model(other.document.root)),
                    "seed \(seed) round \(round): \(value) with \(other)")
                if accepted.count <= 500 { accepted.append(value) }
            } catch let error as JSONError {
                #expect(error.offset <= bytes.count)
                #expect(error.line >= 1 && error.column >= 1 && !error.message.isEmpty)
                refused += 1
            }
            _ = fault(bytes, comments: true)
        }
        #expect(refused > Self.rounds / 4)
        #expect(accepted.count > min(500, Self.rounds / 40))
    }

    /// Asks a value everything there is to ask, and writes it again.
    private func check(_ value: JSON) throws {
        var writer = JSONWriter()
        try rewrite(value.document.root, at: JSONPointer(tokens: []), of: value, into: &writer)
        var again = JSONWriter()
        try rewrite(
            writer.json.document.root, at: JSONPointer(tokens: []), of: writer.json, into: &again)
        #expect(again.bytes == writer.bytes)
    }

    private func rewrite(
        _ view: JSONView, at pointer: JSONPointer, of whole: JSON, into writer: inout JSONWriter
    ) throws {
        #expect(whole.document.root.at(pointer)?.raw == view.raw)
        let parsed = JSONPointer(pointer.description)
        #expect(parsed?.tokens.map { Array($0.utf8) } == pointer.tokens.map { Array($0.utf8) })
        #expect(whole.setting(pointer, to: view.json) == whole)
        switch view.kind {
        case .object:
            let outline = JSONOutline(of: view, in: whole.document.root)
            #expect(outline.members.map(\.name) == view.members.map(\.name))
            #expect(
                outline.members.map { whole.value(at: $0.place) } == view.members.map(\.value.json))
            writer.beginObject()
            for (name, value) in view.members {
                writer.name(name)
                try rewrite(value, at: pointer.appending(name), of: whole, into: &writer)
            }
            writer.endObject()
        case .array:
            writer.beginArray()
            for (index, value) in view.elements.enumerated() {
                try rewrite(value, at: pointer.appending(index), of: whole, into: &writer)
            }
            writer.endArray()
        case .string: writer.string(try #require(view.string))
        case .number:
            if let integer = view.integer {
                writer.integer(integer)
            } else if let double = view.double, Int64(exactly: double) == nil {
                // What rounds to an integer would be written as one the next time.
                writer.double(double)
            } else {
                writer.raw(view.json)
            }
        case .bool: writer.bool(view.bool == true)
        case .null: writer.null()
        }
    }

    @Test(arguments: seedTexts) func `a text cut anywhere is no other object`(_ string: String) {
        let bytes = text(string)
        let whole = fault(bytes)
        #expect(whole == nil)
        guard bytes.first == ASCII.openBrace || bytes.first == ASCII.openBracket else { return }
        let end = (bytes.lastIndex { $0 == ASCII.closeBrace || $0 == ASCII.closeBracket }) ?? 0
        for cut in 0...end {
            #expect(fault(Array(bytes[..<cut])) != nil)
        }
    }
}
