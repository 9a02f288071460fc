import Glibc
import Testing

@testable import TomboloJSON

/// Holds the scanner against another reader of RFC 8259: Python's `json`, where it is installed.
///
/// Known differences, evened out in the script: Python takes `NaN` and `Infinity`, lone surrogates
/// and repeated names; its `loads(bytes)` takes a byte order mark and UTF-16; it nests deeper.
@Suite struct PythonAgreementTests {
    /// A line of hexadecimal in, a line out: `-` for a refused text, else its strings and names in
    /// order, its numbers as 64-bit integers (or `n`), and as the bits of doubles (or `n`).
    private static let script = #"""
        import json, sys, struct
        from decimal import Decimal, InvalidOperation
        class Number(str): pass
        def constant(_): raise ValueError("constant")
        def pairs(members):
            names = [name for name, _ in members]
            if len(set(names)) != len(names): raise ValueError("twice")
            return ("object", members)
        def walk(value, strings, numbers):
            if isinstance(value, tuple):
                for name, member in value[1]:
                    strings.append(name)
                    walk(member, strings, numbers)
            elif isinstance(value, list):
                for element in value: walk(element, strings, numbers)
            elif isinstance(value, Number): numbers.append(str(value))
            elif isinstance(value, str): strings.append(value)
        def integer(spelling):
            if not spelling.lower().split("e")[0].strip("-0."): return "0"
            # An exponent that Decimal cannot hold.
            try: number = Decimal(spelling)
            except InvalidOperation: return "n"
            if not 0 <= number.adjusted() <= 20 or number != number.to_integral_value(): return "n"
            number = int(number)
            return str(number) if -2**63 <= number < 2**63 else "n"
        def double(spelling):
            number = float(spelling)
            return "n" if abs(number) == float("inf") else struct.pack(">d", number).hex()
        for line in open(sys.argv[1]):
            try:
                text = bytes.fromhex(line.strip()).decode("utf-8")
                value = json.loads(text, parse_constant=constant, object_pairs_hook=pairs,
                                   parse_int=Number, parse_float=Number)
                strings, numbers = [], []
                walk(value, strings, numbers)
                print("+" + "/".join(s.encode("utf-8").hex() for s in strings),
                      "/".join(map(integer, numbers)), "/".join(map(double, numbers)), sep=";")
            except ValueError:
                print("-")
        """#

    @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0))
    func `Python reads and refuses the same texts`() throws {
        var generator = SeededGenerator(seed: 8259)
        var texts = seedTexts.map(text) + JSONGrammarTests.refusals.map { text($0.0) }
        texts += JSONViewTests.numbers.map(\.0).map(
            text)
        texts += (0..<20_000).map { _ in mutatedText(&generator) }
        let answers = try ask(texts)
        #expect(answers.count == texts.count)
        for (bytes, answer) in zip(texts, answers) {
            #expect(summary(of: bytes) == answer, "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(answers.count { $0 != "-" } > 3_000)
    }

    private func ask(_ texts: [[UInt8]]) throws -> [Substring] {
        var template = Array("/tmp/tombolo-json-XXXXXX\0".utf8CString)
        let descriptor = mkstemp(&template)
        try #require(descriptor >= 0)
        let path = String(
            decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { unlink(path) }
        let lines = Array((texts.map(hexadecimal).joined(separator: "\n") + "\n").utf8)
        #expect(write(descriptor, lines, lines.count) == lines.count)
        close(descriptor)
        let pipe = try #require(popen("/usr/bin/python3 -c '\(Self.script)' \(path)", "r"))
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&chunk, 1, chunk.count, pipe), count > 0 {
            output += chunk[..<count]
        }
        #expect(pclose(pipe) == 0)
        return String(decoding: output, as: UTF8.self).split(separator: "\n")
    }

    /// What the script would print.
    private func summary(of bytes: [UInt8]) -> Substring {
        // The fault itself is other tests' business.
        guard let document = try? JSONDocument(bytes, limits: JSONLimits(depthMax: 900)) else {
            return "-"
        }
        var strings: [String] = []
        var numbers: [JSONView] = []
        walk(document.root, &strings, &numbers)
        return "+" + strings.map { hexadecimal(Array($0.utf8)) }.joined(separator: "/") + ";"
            + numbers.map { $0.integer.map(String.init) ?? "n" }.joined(separator: "/") + ";"
            + numbers.map { $0.double.map { padded(String($0.bitPattern, radix: 16)) } ?? "n" }
            .joined(separator: "/")
    }

    private func walk(_ view: JSONView, _ strings: inout [String], _ numbers: inout [JSONView]) {
        for (name, value) in view.members {
            strings.append(name)
            walk(value, &strings, &numbers)
        }
        for element in view.elements { walk(element, &strings, &numbers) }
        if let string = view.string { strings.append(string) }
        if view.kind == .number { numbers.append(view) }
    }

    private func padded(_ digits: String) -> String {
        String(repeating: "0", count: 16 - digits.count) + digits
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
