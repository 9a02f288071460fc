/// Header or trailer fields in order (RFC 9110, 5), in one allocation.
///
/// Names are lower case: appending lowers them (ASCII only). Values are bytes; reading one decodes
/// it as UTF-8 and replaces invalid bytes. Appending checks nothing else: parsers check received
/// fields. Lookups scan all fields: a message has at most 64.
package struct HTTPFields: Hashable, Sendable, Sequence, ExpressibleByDictionaryLiteral {
    /// How HPACK may encode a field.
    package enum Indexing: UInt8, Hashable, Sendable {
        /// The HPACK encoder decides.
        case indexed
        /// Never enters an HPACK table, here or at a proxy (RFC 7541, 7.1.3): for credentials.
        case neverIndexed
    }

    /// One field, its name in lower case.
    package struct Element: Hashable, Sendable {
        package var name: String
        package var value: String
        package var indexing: Indexing
    }

    // Layout of each field: length of the name and of the value (4 bytes each, little endian),
    // indexing (1 byte), name, value.
    private static let headBytes = 9
    private var bytes: [UInt8] = []

    /// Number of fields; a repeated name counts each time.
    package private(set) var count = 0

    package init() {}

    /// Names must be lower case.
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }

    package var isEmpty: Bool { count == 0 }

    /// Size as SETTINGS_MAX_HEADER_LIST_SIZE counts it (RFC 9113, 6.5.2): the bytes of all names
    /// and values, plus 32 for each field.
    package var listBytes: Int { bytes.count + count * (32 - Self.headBytes) }

    /// The first value; nil if there is none. `name` must be lower case.
    package subscript(name: String) -> String? {
        for index in Offsets(fields: self) where matches(index, name) { return value(at: index) }
        return nil
    }

    /// All values in order. `name` must be lower case.
    package func values(_ name: String) -> [String] {
        Offsets(fields: self).filter { matches($0, name) }.map { value(at: $0) }
    }

    /// True if there is a field of this lower-case name.
    package func contains(_ name: String) -> Bool {
        Offsets(fields: self).contains { matches($0, name) }
    }

    package mutating func append(_ name: String, _ value: String, indexing: Indexing = .indexed) {
        var name = name
        var value = value
        name.withUTF8 { name in
            value.withUTF8 { value in
                append(
                    name: UnsafeRawBufferPointer(name), value: UnsafeRawBufferPointer(value),
                    indexing: indexing)
            }
        }
    }

    /// Appends a field from a parser's raw bytes.
    package mutating func append(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, indexing: Indexing = .indexed
    ) {
        let needed = bytes.count + Self.headBytes + name.count + value.count
        if bytes.capacity < needed {
            bytes.reserveCapacity(Swift.max(needed, 2 * bytes.count, 192))
        }
        appendLength(name.count)
        appendLength(value.count)
        bytes.append(indexing.rawValue)
        let start = bytes.count
        bytes.append(contentsOf: name)
        for index in start..<bytes.count where (0x41...0x5a).contains(bytes[index]) {
            bytes[index] |= 0x20
        }
        bytes.append(contentsOf: value)
        count += 1
    }

    /// Replaces the first field of that name and removes the others.
    package mutating func set(_ name: String, _ value: String, indexing: Indexing = .indexed) {
        let lower = name.lowercased()
        var replaced = HTTPFields()
        var isSet = false
        for element in self {
            guard element.name == lower else {
                replaced.append(element.name, element.value, indexing: element.indexing)
                continue
            }
            if !isSet { replaced.append(lower, value, indexing: indexing) }
            isSet = true
        }
        if !isSet { replaced.append(lower, value, indexing: indexing) }
        self = replaced
    }

    /// Removes every field of this lower-case name.
    package mutating func removeAll(_ name: String) {
        var kept = HTTPFields()
        for element in self where element.name != name {
            kept.append(element.name, element.value, indexing: element.indexing)
        }
        self = kept
    }

    /// Removes all fields and keeps the capacity.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        count = 0
    }

    /// Calls `body` with each field's bytes, which are valid until `body` returns.
    package func withUnsafeFields<Value>(
        _ body: (UnsafeFields) -> Value
    ) -> Value {
        bytes.withUnsafeBytes { body(UnsafeFields(bytes: $0)) }
    }

    package func makeIterator() -> AnyIterator<Element> {
        var offsets = Offsets(fields: self)
        return AnyIterator { offsets.next().map { self.element(at: $0) } }
    }

    // MARK: Layout

    private mutating func appendLength(_ length: Int) {
        withUnsafeBytes(of: UInt32(length).littleEndian) { bytes.append(contentsOf: $0) }
    }

    fileprivate func length(at offset: Int) -> Int {
        bytes.withUnsafeBytes {
            Int(UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
    }

    private func name(at offset: Int) -> ArraySlice<UInt8> {
        bytes[(offset + Self.headBytes)...].prefix(length(at: offset))
    }

    private func valueBytes(at offset: Int) -> ArraySlice<UInt8> {
        bytes[(offset + Self.headBytes + length(at: offset))...].prefix(length(at: offset + 4))
    }

    private func matches(_ offset: Int, _ name: String) -> Bool {
        length(at: offset) == name.utf8.count && self.name(at: offset).elementsEqual(name.utf8)
    }

    private func value(at offset: Int) -> String {
        String(decoding: valueBytes(at: offset), as: UTF8.self)
    }

    private func element(at offset: Int) -> Element {
        Element(
            name: String(decoding: name(at: offset), as: UTF8.self), value: value(at: offset),
            indexing: Indexing(rawValue: bytes[offset + 8]) ?? .indexed)
    }

    /// Offsets at which fields begin.
    private struct Offsets: Sequence, IteratorProtocol {
        let fields: HTTPFields
        var offset = 0

        mutating func next() -> Int? {
            guard offset < fields.bytes.count else { return nil }
            defer {
                offset += headBytes + fields.length(at: offset) + fields.length(at: offset + 4)
            }
            return offset
        }
    }

    /// Fields as raw bytes. Valid during `withUnsafeFields` only.
    package struct UnsafeFields: Sequence, IteratorProtocol {
        /// One field. The pointers refer to memory of the `HTTPFields` value.
        package struct Field {
            package let name: UnsafeRawBufferPointer
            package let value: UnsafeRawBufferPointer
            package let indexing: Indexing
        }

        private let bytes: UnsafeRawBufferPointer
        private var offset = 0

        fileprivate init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

        package mutating func next() -> Field? {
            guard offset < bytes.count else { return nil }
            let nameCount = length(offset)
            let valueCount = length(offset + 4)
            let nameStart = offset + headBytes
            let valueStart = nameStart + nameCount
            let indexing = Indexing(rawValue: bytes[offset + 8]) ?? .indexed
            offset = valueStart + valueCount
            return Field(
                name: UnsafeRawBufferPointer(rebasing: bytes[nameStart..<valueStart]),
                value: UnsafeRawBufferPointer(rebasing: bytes[valueStart..<offset]),
                indexing: indexing)
        }

        private func length(_ offset: Int) -> Int {
            Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
    }
}
