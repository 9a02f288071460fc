/// A hash of a JSON value: different texts of one value have the same hash. Strings are hashed
/// without their escapes, arrays in order, objects in any order of their members. Numbers are
/// hashed by digits and exponent, whatever their length: `1`, `1.0` and `10e-1` are one value, and
/// `-0` is `0`. The bytes are read once: hashes of members are added up, so nothing is sorted. The
/// hash is the same in every process. It has no key, so an attacker can make collisions.
struct JSONValueHash {
    private let text: UnsafeBufferPointer<UInt8>
    private var position = 0
    /// The content of the last string that had escapes, without them.
    private var plain: [UInt8] = []

    /// - Parameter bytes: one valid JSON value, without comments.
    static func hash(of bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.withUnsafeBufferPointer {
            var hash = JSONValueHash(text: $0)
            return hash.value()
        }
    }

    private init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

    /// Numbers that are mixed into a value's hash, so that kinds differ.
    private enum Seed {
        static let object: UInt64 = 0x8ebc_6af0_9c88_c6e3
        static let array: UInt64 = 0x5899_65cc_7537_4cc3
        static let string: UInt64 = 0x1d8e_4e27_c47d_124f
        static let number: UInt64 = 0xeb44_acca_b455_d165
        static let word: UInt64 = 0x9e37_79b9_7f4a_7c15
    }

    @inline(__always)
    private static func mix(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let product = (one ^ 0xa076_1d64_78bd_642f).multipliedFullWidth(
            by: other ^ 0xe703_7ed1_a0b4_28db)
        return product.high ^ product.low ^ other
    }

    private mutating func value() -> UInt64 {
        skip()
        return valueHere()
    }

    @inline(__always)
    private mutating func valueHere() -> UInt64 {
        switch text[position] {
        case ASCII.openBrace: return object()
        case ASCII.openBracket: return array()
        case ASCII.quote: return Self.mix(Seed.string, string())
        case UInt8(ascii: "t"): return word(4, 1)
        case UInt8(ascii: "f"): return word(5, 2)
        case UInt8(ascii: "n"): return word(4, 3)
        default: return number()
        }
    }

    /// Skips white space, commas and colons. The text is known to be valid.
    @inline(__always)
    private mutating func skip() {
        while position < text.count {
            switch text[position] {
            case ASCII.space, ASCII.tab, ASCII.lineFeed, ASCII.carriageReturn, ASCII.comma,
                ASCII.colon:
                position += 1
            default: return
            }
        }
    }

    private mutating func word(_ length: Int, _ number: UInt64) -> UInt64 {
        position += length
        return Self.mix(Seed.word, number)
    }

    private mutating func object() -> UInt64 {
        position += 1
        var (sum, count): (UInt64, UInt64) = (0, 0)
        skip()
        while text[position] != ASCII.closeBrace {
            let name = string()
            sum &+= Self.mix(name, value())
            count += 1
            skip()
        }
        position += 1
        return Self.mix(Seed.object &+ count, sum)
    }

    private mutating func array() -> UInt64 {
        position += 1
        var hash = Seed.array
        skip()
        while text[position] != ASCII.closeBracket {
            hash = Self.mix(hash, valueHere())
            skip()
        }
        position += 1
        return hash
    }

    /// Reads a string from its opening quote to behind its closing quote.
    private mutating func string() -> UInt64 {
        position += 1
        let start = position
        var escapes = false
        while true {
            position = JSONText.plainEnd(of: text, from: position)
            if text[position] == ASCII.quote { break }
            if text[position] == ASCII.backslash {
                escapes = true
                position += 1
            }
            position += 1
        }
        let content = UnsafeBufferPointer(rebasing: text[start..<position])
        position += 1
        guard escapes else { return Self.hash(UnsafeRawBufferPointer(content)) }
        plain.removeAll(keepingCapacity: true)
        JSONText.unescape(content, into: &plain)
        return plain.withUnsafeBytes(Self.hash)
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(bytes.count)
        var place = 0
        while place + 8 <= bytes.count {
            hash = mix(hash, bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        var last: UInt64 = 0
        while place < bytes.count {
            last = last << 8 | UInt64(bytes[place])
            place += 1
        }
        return mix(hash, last)
    }

    @inline(__always)
    private mutating func number() -> UInt64 {
        let start = position
        if let hash = shortNumber() { return hash }
        position = start
        return longNumber()
    }

    /// Most numbers: at most 17 digits. Nil for others.
    @inline(__always)
    private mutating func shortNumber() -> UInt64? {
        let isNegative = text[position] == ASCII.minus
        if isNegative { position += 1 }
        var (word, count, exponent): (UInt64, UInt64, Int) = (0, 0, 0)
        digits(&word, &count)
        if position < text.count, text[position] == ASCII.dot {
            position += 1
            let start = position
            digits(&word, &count)
            exponent = start - position
        }
        guard count <= 17 else { return nil }
        if position < text.count, text[position] | 0x20 == UInt8(ascii: "e") {
            exponent += self.exponent()
        }
        guard word != 0 else { return Self.hash(Seed.number, 0, 0, false, 0) }
        while word >= 10, word.isMultiple(of: 10) {
            word /= 10
            exponent += 1
            count -= 1
        }
        return Self.hash(Seed.number, word, count, isNegative, exponent)
    }

    /// Reads digits. `count` is the number of digits of `word`, without zeros before the first
    /// other digit.
    @inline(__always)
    private mutating func digits(_ word: inout UInt64, _ count: inout UInt64) {
        while position < text.count, ASCII.isDigit(text[position]) {
            word = word &* 10 &+ UInt64(text[position] &- ASCII.zero)
            if count > 0 || word != 0 { count += 1 }
            position += 1
        }
    }

    /// Reads the exponent from its `e` on.
    private mutating func exponent() -> Int {
        position += 1
        let start = position
        while position < text.count, Self.isOfNumber(text[position]) { position += 1 }
        return JSONDecimal.exponent(text[start..<position])
    }

    /// Any number. The digits are those of `JSONDecimal.normalized`, which is slower.
    @inline(never)
    private mutating func longNumber() -> UInt64 {
        let isNegative = text[position] == ASCII.minus
        if isNegative { position += 1 }
        // Places of the point, and of the first and the last digit that is not 0.
        var (point, first, last): (Int?, Int?, Int) = (nil, nil, 0)
        while position < text.count, ASCII.isDigit(text[position]) || text[position] == ASCII.dot {
            if text[position] == ASCII.dot {
                point = position
            } else if text[position] != ASCII.zero {
                first = first ?? position
                last = position
            }
            position += 1
        }
        let end = point ?? position
        var exponent = last < end ? end - last - 1 : end - last
        if position < text.count, text[position] | 0x20 == UInt8(ascii: "e") {
            exponent += self.exponent()
        }
        guard let first else { return Self.hash(Seed.number, 0, 0, false, 0) }
        var (hash, word, count) = (Seed.number, UInt64(0), UInt64(0))
        for place in first...last where place != point {
            word = word * 10 + UInt64(text[place] - ASCII.zero)
            count += 1
            // A word holds 18 digits.
            guard count.isMultiple(of: 18) else { continue }
            hash = Self.mix(hash, word)
            word = 0
        }
        return Self.hash(hash, word, count, isNegative, exponent)
    }

    private static func hash(
        _ hash: UInt64, _ word: UInt64, _ count: UInt64, _ isNegative: Bool, _ exponent: Int
    ) -> UInt64 {
        let sign: UInt64 = isNegative ? 1 : 0
        return mix(
            mix(mix(hash, word), count), UInt64(bitPattern: Int64(exponent)) << 1 | sign)
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || byte == ASCII.minus || byte == ASCII.dot || byte | 0x20 == 0x65
            || byte == UInt8(ascii: "+")
    }
}
