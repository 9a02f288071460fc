/// Writes compact JSON in the order of the calls. It adds the commas. The caller must write names
/// and brackets in a valid order; debug builds check this in `json`.
package struct JSONWriter: Sendable {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []

    /// True directly after a value: a comma must come before the next value or name.
    private var afterValue = false

    /// - Parameter capacity: number of bytes for which memory is reserved at the start.
    package init(capacity: Int = 0) {
        // An empty array allocates also for a capacity of 0.
        if capacity > 0 { bytes.reserveCapacity(capacity) }
    }

    /// The result. All objects and arrays must be closed before.
    package var json: JSON { JSON(unchecked: bytes) }

    /// Returns the result with a line feed at its end, and empties the writer.
    package mutating func takeLine() -> [UInt8] {
        var line: [UInt8] = []
        swap(&line, &bytes)
        line.append(0x0a)
        afterValue = false
        return line
    }

    /// Ends a line of several values, each on its own line.
    package mutating func endLine() {
        bytes.append(0x0a)
        afterValue = false
    }

    /// Opens an object. Names and values must alternate in it.
    package mutating func beginObject() { open(ASCII.openBrace) }

    /// Closes the innermost object.
    package mutating func endObject() { close(ASCII.closeBrace) }

    /// Opens an array.
    package mutating func beginArray() { open(ASCII.openBracket) }

    /// Closes the innermost array.
    package mutating func endArray() { close(ASCII.closeBracket) }

    /// Writes the name of a member. Its value must come next.
    package mutating func name(_ name: String) {
        quote(name, colon: true)
        afterValue = false
    }

    /// Writes a string. It escapes only what RFC 8259 section 7 requires, so neither `/` nor
    /// non-ASCII characters.
    package mutating func string(_ value: String) {
        quote(value, colon: false)
        afterValue = true
    }

    /// Writes an integer of any size.
    package mutating func integer(_ value: some BinaryInteger) {
        guard let number = UInt64(exactly: value) else { return token(String(value)) }
        write(number)
    }

    /// The same for `Int64`, the most frequent type, without generic code.
    package mutating func integer(_ value: Int64) {
        guard value >= 0 else { return token(String(value)) }
        write(UInt64(value))
    }

    private mutating func write(_ number: UInt64) {
        let comma = afterValue
        // Numbers below 2⁶⁴ have at most twenty digits. The buffer avoids a string.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 21) { digits in
            var start = digits.count
            var rest = number
            // Divisions take the most time, so each one gives four digits.
            while rest >= 10_000 {
                let (next, four) = rest.quotientAndRemainder(dividingBy: 10_000)
                let part = UInt32(truncatingIfNeeded: four)
                digits[start - 1] = UInt8(truncatingIfNeeded: part % 10) + UInt8(ascii: "0")
                digits[start - 2] = UInt8(truncatingIfNeeded: part / 10 % 10) + UInt8(ascii: "0")
                digits[start - 3] = UInt8(truncatingIfNeeded: part / 100 % 10) + UInt8(ascii: "0")
                digits[start - 4] = UInt8(truncatingIfNeeded: part / 1_000) + UInt8(ascii: "0")
                start -= 4
                rest = next
            }
            repeat {
                start -= 1
                digits[start] = UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0")
                rest /= 10
            } while rest > 0
            if comma {
                start -= 1
                digits[start] = ASCII.comma
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
        }
        afterValue = true
    }

    /// Writes the shortest number that is read as the same double. Traps for infinity and NaN,
    /// which JSON does not have.
    package mutating func double(_ value: Double) {
        precondition(value.isFinite, "JSON has no infinity and no NaN")
        token(value.description)
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ value: Bool) { token(value ? "true" : "false") }

    /// Writes `null`.
    package mutating func null() { token("null") }

    /// Writes a JSON value with its own bytes.
    package mutating func raw(_ json: JSON) {
        separate()
        json.bytes.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        afterValue = true
    }

    /// Writes constant text as it is: brackets, names, commas. It must end with an opening bracket,
    /// a comma or a colon, because no comma is added before the next value.
    package mutating func fixed(_ text: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        afterValue = false
    }

    /// Writes the bytes of one valid value as they are, for example `JSONView.raw`.
    package mutating func raw(_ value: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: value)
        afterValue = true
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        afterValue = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        afterValue = true
    }

    private mutating func separate() {
        if afterValue { bytes.append(ASCII.comma) }
    }

    private mutating func token(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
        afterValue = true
    }

    /// A text up to this length is put together with its quotes and punctuation, and appended in
    /// one call, because each call is expensive.
    private static let shortBytesMax = 32

    private mutating func quote(_ text: String, colon: Bool) {
        var text = text
        let comma = afterValue
        text.withUTF8 { text in
            if text.count <= Self.shortBytesMax, !JSONText.hasEscaped(text) {
                return append(short: text, comma: comma, colon: colon)
            }
            if comma { bytes.append(ASCII.comma) }
            bytes.append(ASCII.quote)
            JSONText.escape(text, into: &bytes)
            bytes.append(ASCII.quote)
            if colon { bytes.append(ASCII.colon) }
        }
    }

    private mutating func append(short text: UnsafeBufferPointer<UInt8>, comma: Bool, colon: Bool) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.shortBytesMax + 4) { piece in
            var count = 0
            if comma {
                piece[0] = ASCII.comma
                count = 1
            }
            piece[count] = ASCII.quote
            count += 1
            if let start = text.baseAddress, let room = piece.baseAddress {
                (room + count).update(from: start, count: text.count)
            }
            count += text.count
            piece[count] = ASCII.quote
            count += 1
            if colon {
                piece[count] = ASCII.colon
                count += 1
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: piece[..<count]))
        }
    }
}

/// Writes a name and its value in one call.
extension JSONWriter {
    /// Writes a member whose value is a string.
    package mutating func member(_ name: String, _ value: String) {
        self.name(name)
        string(value)
    }

    /// Writes a member whose value is an integer.
    package mutating func member(_ name: String, _ value: some BinaryInteger) {
        self.name(name)
        integer(value)
    }

    /// The same for `Int64`, the most frequent type.
    package mutating func member(_ name: String, _ value: Int64) {
        self.name(name)
        integer(value)
    }

    /// Writes a member whose value is a finite double.
    package mutating func member(_ name: String, _ value: Double) {
        self.name(name)
        double(value)
    }

    /// Writes a member whose value is a boolean.
    package mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        bool(value)
    }

    /// Writes a member whose value is given as the bytes of valid JSON.
    package mutating func rawMember(_ name: String, _ value: some Collection<UInt8>) {
        self.name(name)
        raw(value)
    }

    /// Writes a member whose value is already JSON.
    package mutating func member(_ name: String, _ value: JSON) {
        self.name(name)
        raw(value)
    }
}

/// Writes members that are always present.
extension JSONWriter {
    /// Writes a string; null if there is no value.
    package mutating func nullable(_ name: String, _ value: String?) {
        self.name(name)
        if let value { string(value) } else { null() }
    }

    /// Writes an integer; null if there is no value.
    package mutating func nullable(_ name: String, _ value: (some BinaryInteger)?) {
        self.name(name)
        if let value { integer(value) } else { null() }
    }
}

/// Writes whole objects and arrays: each bracket that is opened is closed.
extension JSONWriter {
    /// Writes an object, as a member if it has a name. `members` writes its names and values.
    package mutating func object<Failure>(
        _ name: String? = nil, _ members: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        if let name { self.name(name) }
        beginObject()
        try members(&self)
        endObject()
    }

    /// Writes a member. `value` writes its one value.
    package mutating func named<Failure>(
        _ name: String, _ value: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.name(name)
        try value(&self)
    }

    /// Writes an array, as a member if it has a name. `elements` writes its values.
    package mutating func array<Failure>(
        _ name: String? = nil, _ elements: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        if let name { self.name(name) }
        beginArray()
        try elements(&self)
        endArray()
    }

    /// Writes an array with what `write` makes of each element of the list.
    package mutating func array<List: Sequence, Failure>(
        _ name: String? = nil, of list: List,
        _ write: (inout JSONWriter, List.Element) throws(Failure) -> Void
    ) throws(Failure) {
        if let name { self.name(name) }
        beginArray()
        for element in list { try write(&self, element) }
        endArray()
    }
}

extension JSONWriter {
    /// The bytes of an object with the members that `write` writes.
    package static func objectBytes<Failure>(
        _ write: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        var writer = JSONWriter()
        try writer.object(nil, write)
        return writer.bytes
    }
}

extension JSON {
    /// An object with the members that `write` writes.
    package static func object<Failure>(
        _ write: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) -> JSON {
        JSON(unchecked: try JSONWriter.objectBytes(write))
    }

    /// A string, with all that must be escaped.
    package static func string(_ text: String) -> JSON {
        var writer = JSONWriter()
        writer.string(text)
        return writer.json
    }
}
