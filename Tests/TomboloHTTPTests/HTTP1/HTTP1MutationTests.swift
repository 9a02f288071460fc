import Testing
import TomboloHTTP

/// Requests with bytes changed, dropped, doubled and moved, from a seed.
@Suite struct `Damaged requests` {
    /// SplitMix64.
    private struct Chance: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }

    private static let telling: [UInt8] = Array("\r\n\t :;,0Ff/*#\u{00}\u{7F}chunked".utf8)

    private func damage(_ text: String, _ chance: inout Chance) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &chance) {
            let index = Int.random(in: 0..<bytes.count, using: &chance)
            switch Int.random(in: 0..<4, using: &chance) {
            case 0: bytes[index] = Self.telling.randomElement(using: &chance) ?? 0
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytes[index], at: index)
            default:
                bytes.swapAt(index, Int.random(in: 0..<bytes.count, using: &chance))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: 0..<4)
    func `whatever comes is read the same however it is cut`(_ seed: UInt64) {
        var chance = Chance(state: seed)
        for round in 0..<500 {
            let sample = `The parser of requests`.samples[
                round % `The parser of requests`.samples.count]
            let text = damage(sample.bytes + sample.bytes, &chance)
            let whole = read(text)
            for size in [1, 2, 3, 5, 11] {
                let cut = read(text, inPiecesOf: size)
                #expect(cut == whole, "seed \(seed), round \(round), pieces of \(size): \(text)")
            }
        }
    }
}
