/// Reads the parts of a time zone's file (TZif, RFC 8536, section 3).
struct ZoneFileReader {
    /// The header of a block: how many entries of each kind follow.
    struct Header {
        var version: UInt8
        var utcFlags: Int
        var standardFlags: Int
        var leaps: Int
        var times: Int
        var types: Int
        var nameBytes: Int
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// More than any zone has of one kind of entry.
    private static let countMax = 100_000
    /// Slightly more than a day, in seconds: RFC 8536 recommends from -25 to 26 hours.
    private static let offsetMax: Int64 = 26 * 3_600
    /// Changes farther from 1970 do not matter. (Some files begin with one far in the past.)
    private static let timeMax: Int64 = 1 << 40

    mutating func header() throws(TimeZoneError) -> Header {
        guard bytes.count - position >= 44,
            bytes[position..<position + 4].elementsEqual("TZif".utf8)
        else { throw TimeZoneError(message: "the bytes do not begin with a header of TZif") }
        let version = bytes[position + 4]
        position += 20
        var counts: [Int] = []
        for _ in 0..<6 {
            let count = Int(number(4))
            guard (0...Self.countMax).contains(count) else {
                throw TimeZoneError(message: "the header has a count of \(count)")
            }
            counts.append(count)
        }
        return Header(
            version: version, utcFlags: counts[0], standardFlags: counts[1], leaps: counts[2],
            times: counts[3], types: counts[4], nameBytes: counts[5])
    }

    mutating func skipBlock(_ header: Header, timeBytes: Int) throws(TimeZoneError) {
        let length =
            header.times * (timeBytes + 1) + header.types * 6 + header.nameBytes
            + header.leaps * (timeBytes + 4) + header.standardFlags + header.utcFlags
        guard bytes.count - position >= length else { throw Self.tooShort }
        position += length
    }

    private static let tooShort = TimeZoneError(message: "the file ends early")

    /// Reads the block whose times have 8 bytes.
    mutating func block(
        _ header: Header
    ) throws(TimeZoneError) -> (first: Int64, changes: [TimeZoneRules.Change]) {
        guard header.leaps == 0 else {
            throw TimeZoneError(message: "the file counts leap seconds")
        }
        guard header.types > 0 else { throw TimeZoneError(message: "the file has no offset") }
        let start = position
        try skipBlock(header, timeBytes: 8)
        let end = position
        position = start
        var times: [Int64] = []
        for _ in 0..<header.times { times.append(number(8)) }
        let types = bytes[position..<position + header.times].map { Int($0) }
        position += header.times
        var offsets: [Int64] = []
        for _ in 0..<header.types {
            offsets.append(number(4))
            position += 2
        }
        position = end
        guard offsets.allSatisfy({ abs($0) <= Self.offsetMax }),
            types.allSatisfy(offsets.indices.contains)
        else { throw TimeZoneError(message: "an offset is not possible") }
        guard zip(times, times.dropFirst()).allSatisfy(<) else {
            throw TimeZoneError(message: "the changes are not in the order of time")
        }
        var (first, changes) = (offsets[0], [TimeZoneRules.Change]())
        for (time, type) in zip(times, types) where time <= Self.timeMax {
            if time < -Self.timeMax {
                first = offsets[type]
            } else {
                changes.append(TimeZoneRules.Change(at: time, offset: offsets[type]))
            }
        }
        return (first, changes)
    }

    /// Reads the footer. Returns nil if it is empty: no rule is known for the time after the last
    /// change.
    mutating func footer() throws(TimeZoneError) -> PosixZoneRule? {
        guard position < bytes.count, bytes[position] == 0x0a,
            let end = bytes[(position + 1)...].firstIndex(of: 0x0a)
        else { throw TimeZoneError(message: "the file has no footer") }
        let text = Array(bytes[position + 1..<end])
        guard !text.isEmpty else { return nil }
        guard let rule = PosixZoneRule(text) else {
            throw TimeZoneError(message: "the footer is no rule")
        }
        return rule
    }

    /// Reads a signed big-endian number of `count` bytes.
    private mutating func number(_ count: Int) -> Int64 {
        var value: Int64 = bytes[position] >= 0x80 ? -1 : 0
        for byte in bytes[position..<position + count] { value = value << 8 | Int64(byte) }
        position += count
        return value
    }
}
