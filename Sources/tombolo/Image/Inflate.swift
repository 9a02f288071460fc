/// Decompression of a DEFLATE stream (RFC 1951), for pictures of a few kilobytes.
///
/// It never traps and never makes more than it was told: what is not a stream is nil.
struct Inflate {
    private let input: [UInt8]
    private var position = 0
    private var bitBuffer = 0
    private var bitCount = 0
    private var output: [UInt8] = []
    private let limit: Int

    private init(_ input: [UInt8], limit: Int) {
        self.input = input
        self.limit = limit
    }

    /// The bytes of a zlib stream (RFC 1950), at most `limit`; nil where it is damaged, longer, or
    /// its checksum is wrong.
    static func zlib(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
        guard bytes.count >= 6, bytes[0] & 0x0f == 8, bytes[1] & 0x20 == 0,
            (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0
        else { return nil }
        var stream = Inflate(Array(bytes[2..<bytes.count - 4]), limit: limit)
        guard stream.run() else { return nil }
        let sum = bytes.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return adler32(stream.output) == sum ? stream.output : nil
    }

    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }

    /// Bits come from the low end of each byte; nil at the end of the input.
    private mutating func bits(_ count: Int) -> Int? {
        while bitCount < count {
            guard position < input.count else { return nil }
            bitBuffer |= Int(input[position]) << bitCount
            position += 1
            bitCount += 8
        }
        let value = bitBuffer & (1 << count - 1)
        bitBuffer >>= count
        bitCount -= count
        return value
    }

    private mutating func run() -> Bool {
        while true {
            guard let last = bits(1), let kind = bits(2) else { return false }
            let isGood =
                switch kind {
                case 0: stored()
                case 1: compressed(Self.fixedLiterals, Self.fixedDistances)
                case 2: dynamic()
                default: false
                }
            guard isGood else { return false }
            if last == 1 { return true }
        }
    }

    private mutating func stored() -> Bool {
        bitBuffer = 0
        bitCount = 0
        guard position + 4 <= input.count else { return false }
        let length = Int(input[position]) | Int(input[position + 1]) << 8
        let check = Int(input[position + 2]) | Int(input[position + 3]) << 8
        position += 4
        guard length == ~check & 0xffff, position + length <= input.count,
            output.count + length <= limit
        else { return false }
        output += input[position..<position + length]
        position += length
        return true
    }

    private mutating func dynamic() -> Bool {
        guard let literals = bits(5), let distances = bits(5), let codes = bits(4) else {
            return false
        }
        var lengths = [Int](repeating: 0, count: 19)
        for index in 0..<codes + 4 {
            guard let length = bits(3) else { return false }
            lengths[Self.codeOrder[index]] = length
        }
        let meta = HuffmanCode(lengths: lengths)
        let total = literals + 257 + distances + 1
        guard let all = codeLengths(total, meta) else { return false }
        return compressed(
            HuffmanCode(lengths: Array(all[..<(literals + 257)])),
            HuffmanCode(lengths: Array(all[(literals + 257)...])))
    }

    /// The code lengths of section 3.2.7, with their repetitions.
    private mutating func codeLengths(_ total: Int, _ meta: HuffmanCode) -> [Int]? {
        var all: [Int] = []
        while all.count < total {
            guard let symbol = symbol(meta) else { return nil }
            switch symbol {
            case 16:
                guard let previous = all.last, let count = bits(2) else { return nil }
                all += [Int](repeating: previous, count: count + 3)
            case 17:
                guard let count = bits(3) else { return nil }
                all += [Int](repeating: 0, count: count + 3)
            case 18:
                guard let count = bits(7) else { return nil }
                all += [Int](repeating: 0, count: count + 11)
            default: all.append(symbol)
            }
        }
        return all.count == total ? all : nil
    }

    private mutating func compressed(_ literals: HuffmanCode, _ distances: HuffmanCode) -> Bool {
        while let symbol = symbol(literals) {
            if symbol == 256 { return true }
            if symbol < 256 {
                guard output.count < limit else { return false }
                output.append(UInt8(symbol))
                continue
            }
            guard symbol - 257 < Self.lengths.count,
                let more = bits(Self.lengths[symbol - 257].bits),
                let code = self.symbol(distances), code < Self.distances.count,
                let farther = bits(Self.distances[code].bits)
            else { return false }
            let length = Self.lengths[symbol - 257].base + more
            let distance = Self.distances[code].base + farther
            guard distance <= output.count, output.count + length <= limit else { return false }
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
        return false
    }

    private mutating func symbol(_ code: HuffmanCode) -> Int? {
        var value = 0
        for length in 1...15 {
            guard let bit = bits(1) else { return nil }
            value = value << 1 | bit
            if let symbol = code.symbol(value, length: length) { return symbol }
        }
        return nil
    }

    private static let codeOrder = [
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    ]

    /// Lengths 3 to 258 for the symbols 257 to 285 (section 3.2.5).
    private static let lengths: [(base: Int, bits: Int)] =
        (0..<28).map { (index: Int) -> (base: Int, bits: Int) in
            guard index >= 8 else { return (3 + index, 0) }
            let bits = index / 4 - 1
            return (3 + (4 + index % 4) << bits, bits)
        } + [(258, 0)]

    /// Distances 1 to 32,768.
    private static let distances: [(base: Int, bits: Int)] =
        (0..<30).map { (index: Int) -> (base: Int, bits: Int) in
            guard index >= 4 else { return (1 + index, 0) }
            let bits = index / 2 - 1
            return (1 + (2 + index % 2) << bits, bits)
        }

    private static let fixedLiterals = HuffmanCode(
        lengths: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    private static let fixedDistances = HuffmanCode(lengths: [Int](repeating: 5, count: 30))
}

/// A canonical Huffman code, from the lengths of its symbols' words.
private struct HuffmanCode {
    /// Per length: the first code word, where its symbols begin in `symbols`, and how many there
    /// are.
    private var ranges: [(first: Int, offset: Int, count: Int)] = []
    private let symbols: [Int]

    init(lengths: [Int]) {
        symbols = (1...15).flatMap { length in lengths.indices.filter { lengths[$0] == length } }
        var first = 0
        var offset = 0
        for length in 0...15 {
            let count = length == 0 ? 0 : lengths.count { $0 == length }
            first = length == 0 ? 0 : first << 1
            ranges.append((first, offset, count))
            first += count
            offset += count
        }
    }

    func symbol(_ value: Int, length: Int) -> Int? {
        let range = ranges[length]
        let index = value - range.first
        return (0..<range.count).contains(index) ? symbols[range.offset + index] : nil
    }
}
