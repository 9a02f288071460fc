import Testing

@testable import TomboloJSON

@Suite struct JSONLimitsTests {
    private func nested(_ depth: Int) -> [UInt8] {
        text(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
    }

    @Test func `a text nests as deep as the limit and no deeper`() {
        #expect(fault(nested(40)) == nil)
        #expect(fault(nested(41))?.code == .tooDeep)
        #expect(fault(nested(41))?.offset == 40)
        #expect(fault(nested(32), limits: .received) == nil)
        #expect(fault(nested(33), limits: .received)?.code == .tooDeep)
        #expect(fault(text("1"), limits: JSONLimits(depthMax: 0)) == nil)
        #expect(fault(text("{}"), limits: JSONLimits(depthMax: 0))?.code == .tooDeep)
        // Depth is nesting, not number.
        #expect(fault("[" + repeatElement("[]", count: 100).joined(separator: ",") + "]") == nil)
    }

    @Test func `the depth of a value is what its limit counts`() throws {
        for depth in [0, 1, 7, 32] {
            let text = depth == 0 ? text("1") : nested(depth)
            #expect(try JSONDocument(text).root.depth == depth)
        }
        let uneven = text(#"{"a":[1,[2]],"b":{"c":{"d":{}}},"e":[]}"#)
        let root = try JSONDocument(uneven).root
        #expect(root.depth == 4)
        #expect(root["a"]?.depth == 2)
        #expect(root["e"]?.depth == 1)
    }

    /// Foundation's `JSONDecoder` takes the first of these as `Double`, and throws on the others.
    @Test func `a received number is one that a double holds`() throws {
        let most = String(repeating: "9", count: 308)
        let zeros = String(repeating: "0", count: 330)
        for number in [
            "0", "-0", "0e400", "0.0e-500", "-0.0E+9999999999999999999999", "5e-324", "-4.9e-324",
            "1e-310", "1.7976931348623157e308", "-1.7976931348623157E+308", most, "0.\(zeros)",
            "123456789012345678901234567890", "1\(zeros)e-330", "0.\(zeros)1e331", "1e0000001",
        ] {
            #expect(fault(text(number), limits: .received) == nil, "\(number)")
            #expect((try JSONDocument(text(number))).root.isDouble)
        }
        for number in [
            "1e400", "-1e400", "1e-400", "2e-324", "1.7976931348623159e308", "9\(most)",
            "0.\(zeros)1", "1e9999999999999999999999", "-1E-9999999999999999999999", "1e309",
        ] {
            #expect(fault(text(number), limits: .received)?.code == .invalidNumber, "\(number)")
            #expect(fault(text("{\"a\":[1,\(number)]}"), limits: .received)?.offset == 8)
            #expect(fault(text(number)) == nil)
            #expect(!(try JSONDocument(text(number))).root.isDouble)
        }
    }

    /// Around the largest double and half of the smallest, the C library says which numbers fit.
    @Test func `numbers at the edges are judged as strtod reads them`() throws {
        for (edge, exponent) in [
            ("17976931348623158079372897140530341507993413271", 308),
            ("24703282292062327208828439643411068618252990130", -324),
        ] {
            for kept in 1...edge.utf8.count {
                for last in ["", "0", "1", "9", "99999"] {
                    let digits = edge.prefix(kept) + last
                    for number in [
                        "\(digits)e\(exponent + 1 - digits.utf8.count)",
                        "0.000\(digits)e\(exponent + 4)",
                    ] {
                        let value = try #require(Double(number))
                        let fits = value.isFinite && value != 0
                        #expect(
                            (fault(text(number), limits: .received) == nil) == fits, "\(number)")
                    }
                }
            }
        }
    }

    @Test func `a number of many digits is judged by the first of them`() {
        let digits = String(repeating: "9", count: 60_000)
        #expect(fault(text("0.\(digits)"), limits: .received) == nil)
        #expect(fault(text("\(digits)"), limits: .received) != nil)
        #expect(fault(text("\(digits)e-60000"), limits: .received) == nil)
    }

    @Test func `no limit goes beyond the ceiling`() {
        let limits = JSONLimits(depthMax: .max, bytesMax: .max)
        #expect(limits.bytesMax == JSONLimits.bytesCeiling)
        #expect(fault(nested(JSONLimits.depthCeiling), limits: limits) == nil)
        #expect(fault(nested(JSONLimits.depthCeiling + 1), limits: limits)?.code == .tooDeep)
        #expect(fault(nested(1), limits: JSONLimits(depthMax: -1))?.code == .tooDeep)
    }

    @Test func `a million brackets are refused, not a crash`() {
        let limits = JSONLimits(depthMax: .max)
        #expect(
            fault([UInt8](repeating: ASCII.openBracket, count: 1_000_000), limits: limits)?.code
                == .tooDeep)
    }

    @Test func `a text is as long as the limit and no longer`() throws {
        #expect(fault(text("[10]"), limits: JSONLimits(bytesMax: 4)) == nil)
        let error = try #require(fault(text("[10] "), limits: JSONLimits(bytesMax: 4)))
        #expect(error.code == .tooLong)
        #expect(error.offset == 4)
        #expect(error.message.contains("5 bytes, 4 are allowed"))
    }

    @Test func `a value as deep as the ceiling can be patched`() throws {
        let depth = JSONLimits.depthCeiling
        let deep = text(
            String(repeating: "{\"a\":", count: depth - 1) + "{\"b\":null,\"c\":1}"
                + String(repeating: "}", count: depth - 1))
        let value = try JSON(validating: deep, limits: JSONLimits(depthMax: depth))
        let merged = JSON.emptyObject.mergePatched(with: value)
        #expect(merged.bytes.count == deep.count - "\"b\":null,".utf8.count)
        #expect(value.mergePatched(with: value) == merged)
    }
}
