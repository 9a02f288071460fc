extension JSONView {
    /// The number as an exact integer: `1`, `1.0` and `1e3` are integers. Nil for `1.5`, for
    /// numbers beyond 64 bits, and for another kind. Floating point is not used.
    package var integer: Int64? {
        let entry = entry
        guard entry.kind == .number else { return nil }
        return JSONDecimal(document.bytes[entry.range]).int64
    }

    /// The nearest double. Nil for another kind, and for a number that is too large for a finite
    /// double (`1e400`). A number that is too small becomes 0.
    package var double: Double? {
        guard entry.kind == .number else { return nil }
        guard let double = Double(String(decoding: raw, as: UTF8.self)), double.isFinite else {
            return nil
        }
        return double
    }
}

extension JSONView {
    /// True if it is a number that a double can hold: a finite one, and not one that would wrongly
    /// become 0. Apps (Foundation's `JSONDecoder`) decode no others.
    package var isDouble: Bool {
        let entry = entry
        return entry.kind == .number
            && document.bytes[entry.range].withUnsafeBufferPointer {
                JSONDecimal.fitsDouble($0[...])
            }
    }
}

extension JSONDecimal {
    /// A number without an exponent and with at most this many bytes is always within a double's
    /// range.
    static let plainBytesMax = 300

    /// The same for a number with an exponent of one or two digits.
    static let shortBytesMax = 200

    /// True if the nearest double is finite, and is 0 only if the number is 0. The time is linear
    /// in the length of the text.
    static func fitsDouble(_ spelling: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let text = UnsafeBufferPointer(rebasing: spelling)
        var (place, power) = (0, 0)
        while place < text.count, text[place] | 0x20 != UInt8(ascii: "e") { place += 1 }
        if place < text.count {
            power = Self.exponent(spelling.dropFirst(place + 1))
        } else if text.count <= plainBytesMax {
            return true
        }
        let end = place
        place = text[0] == ASCII.minus ? 1 : 0
        // The power of ten of the first digit that is not 0: its distance from the point.
        var (isZero, exponent) = (true, -1)
        while place < end, text[place] != ASCII.dot {
            if !isZero || text[place] != ASCII.zero { (isZero, exponent) = (false, exponent + 1) }
            place += 1
        }
        place += 1
        if isZero {
            while place < end, text[place] == ASCII.zero {
                (place, exponent) = (place + 1, exponent - 1)
            }
            isZero = place >= end
        }
        if isZero { return true }
        exponent += power
        // Doubles have magnitudes from 4.9e-324 to 1.8e308.
        if (-323...307).contains(exponent) { return true }
        guard exponent == 308 || exponent == -324 else { return false }
        // The first 18 digits decide, unless they are those of the edge itself.
        let edge: UInt64 = exponent == 308 ? 179_769_313_486_231_580 : 247_032_822_920_623_272
        let leading = Self.leadingDigits(text[..<end])
        if leading != edge { return (leading < edge) == (exponent == 308) }
        let digits = text[..<end].filter(ASCII.isDigit).drop { $0 == ASCII.zero }
        let number = Double(
            "0.\(String(decoding: digits.prefix(digitsMax), as: UTF8.self))e\(exponent + 1)")
        return (number ?? .infinity).isFinite && number != 0
    }

    /// The first 18 digits without zeros before them, filled up with zeros.
    private static func leadingDigits(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64 {
        var (leading, count): (UInt64, Int) = (0, 0)
        for byte in text where ASCII.isDigit(byte) && (count > 0 || byte != ASCII.zero) {
            leading = leading * 10 + UInt64(byte - ASCII.zero)
            count += 1
            if count == 18 { return leading }
        }
        while count < 18 { (leading, count) = (leading * 10, count + 1) }
        return leading
    }

    /// Digits after this many cannot change the nearest double.
    private static let digitsMax = 800
}

/// A parsed number: sign, digits without zeros at both ends, and power of ten.
struct JSONDecimal {
    /// The digits as one integer; nil if they need more than 64 bits. The last digit is not 0,
    /// unless the number is 0.
    private var digits: UInt64? = 0
    private var isNegative = false
    private var exponent = 0

    /// - Parameter spelling: the text of a number that the scanner has accepted.
    init(_ spelling: ArraySlice<UInt8>) {
        let form = spelling.withUnsafeBufferPointer {
            Self.normalized($0[...]) { append(UInt64($0)) }
        }
        (isNegative, exponent) = (form.isNegative, form.exponent)
    }

    /// Reads a number in its normal form: digits without zeros at both ends, the sign, and the
    /// power of ten of the last digit. 0 has no digits, is not negative, and has the power 0.
    ///
    /// - Parameter take: is called with each digit (0 to 9), from the first to the last.
    @inline(__always)
    static func normalized(
        _ spelling: Slice<UnsafeBufferPointer<UInt8>>, _ take: (UInt8) -> Void
    ) -> (isNegative: Bool, exponent: Int) {
        var (isNegative, isZero, inFraction) = (false, true, false)
        var (zeros, exponent) = (0, 0)
        // `Slice.indices` looks up its type at each call.
        var place = spelling.startIndex
        scan: while place < spelling.endIndex {
            let byte = spelling[place]
            place += 1
            switch byte {
            case ASCII.minus: isNegative = true
            case ASCII.dot: inFraction = true
            case ASCII.zero...ASCII.nine:
                if inFraction { exponent -= 1 }
                if byte == ASCII.zero {
                    // A 0 counts only if another digit follows.
                    zeros += 1
                } else {
                    if !isZero { for _ in 0..<zeros { take(0) } }
                    take(byte - ASCII.zero)
                    (zeros, isZero) = (0, false)
                }
            default:
                exponent += Self.exponent(spelling[place...])
                break scan
            }
        }
        return isZero ? (false, 0) : (isNegative, exponent + zeros)
    }

    private mutating func append(_ digit: UInt64) {
        guard let digits else { return }
        let (tens, overflow) = digits.multipliedReportingOverflow(by: 10)
        let (sum, carry) = tens.addingReportingOverflow(digit)
        self.digits = overflow || carry ? nil : sum
    }

    /// The number after `e`, clamped. The clamped value is so large that no number of digits can
    /// bring the result back into range.
    static func exponent(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        var value = 0
        for byte in text where ASCII.isDigit(byte) {
            value = min(value * 10 + Int(byte - ASCII.zero), 1 << 40)
        }
        return text.first == ASCII.minus ? -value : value
    }

    /// The value as a 64-bit integer; nil if it is not one.
    var int64: Int64? {
        // The digits need more than 64 bits and do not end in 0: the number is too large, or a
        // fraction.
        guard var magnitude = digits else { return nil }
        if magnitude == 0 { return 0 }
        guard exponent >= 0, exponent < 19 else { return nil }
        for _ in 0..<exponent {
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            magnitude = product
        }
        if !isNegative { return Int64(exactly: magnitude) }
        return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }
}
