import Testing

@testable import TomboloJSON

@Suite struct JSONLimitsTests {
    private func nested(_ depth: Int) -> [UInt8] {
        text(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
    }

    @Test func `a text nests as deep as the limit and no deeper`() {
        #expect(fault(nested(32)) == nil)
        #expect(fault(nested(33))?.code == .tooDeep)
        #expect(fault(nested(33))?.offset == 32)
        #expect(fault(text("1"), limits: JSONLimits(depthMax: 0)) == nil)
        #expect(fault(text("{}"), limits: JSONLimits(depthMax: 0))?.code == .tooDeep)
        // Depth is nesting, not number.
        #expect(fault("[" + repeatElement("[]", count: 100).joined(separator: ",") + "]") == nil)
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
