import CNghttp2
import Glibc

/// The common parts of many requests, checked and laid out once, and the next one's varying parts.
///
/// For each request, call `begin` with the path, `add` for each varying field, then submit. nghttp2
/// gets constant parts by pointer; varying parts are copied once. A request costs no allocation.
/// Sessions retain the template because they point to its bytes.
///
/// `@unchecked Sendable`: used on one loop's thread only, like its client.
package final class HTTP2RequestTemplate: @unchecked Sendable {
    /// How HPACK encodes a field whose value varies.
    package enum Varying: Hashable, Sendable {
        /// The connection's first request puts the field into the HPACK table, so later requests
        /// can refer to its name. Values of later requests are put in only if they are shared.
        case nameIndexed
        /// Never enters an HPACK table, here or at a proxy (RFC 7541, 7.1.3): for credentials.
        case neverIndexed
    }

    /// Which parts of an answer are kept.
    package enum Keeping: Hashable, Sendable {
        case everything
        /// Of a 200 only the status; any other answer in full.
        case failures
    }

    static let fieldsMax = 32
    /// Capacity for values at first.
    static let valueBytesByDefault = 1_024

    let keeping: Keeping
    let names: UnsafeMutablePointer<nghttp2_nv>
    /// Number of `names` that are constant: the pseudo-fields and the constant fields.
    private let fixedCount: Int
    private let varying: [(name: UnsafeRawBufferPointer, kind: Varying)]
    private let constants: UnsafeMutableRawBufferPointer
    private let pathPrefixCount: Int
    /// Name of a constant part that HTTP/2 cannot carry; nil if there is none.
    private let unsendableConstant: String?

    private(set) var values: UnsafeMutableRawPointer
    private var valuesCapacity = valueBytesByDefault
    // Unchecked: the run-time check for exclusive access would cost more than the accesses.
    @exclusivity(unchecked) private(set) var valuesCount = 0
    /// Number of `names` that the next request has so far.
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var unsendable: String?

    @exclusivity(unchecked) private var sharedText = ""
    @exclusivity(unchecked) private var sharedField = nghttp2_nv()
    @exclusivity(unchecked) private var unsendableShared: String?
    /// Shared fields of the next request: 0 or 1.
    @exclusivity(unchecked) private var sharedCount = 0
    /// Every value that was ever shared: a session may still point to it.
    private var shared: [UnsafeMutableRawBufferPointer] = []

    /// All paths begin with `pathPrefix`. Every request has `fields`. `varying` lists the fields
    /// that get their values from `add`; `add` refers to them by index.
    ///
    /// If HTTP/2 cannot carry a part, each request ends as `unsendable`.
    package init(
        method: String, scheme: String, authority: String, pathPrefix: String, fields: HTTPFields,
        varying: [(name: String, kind: Varying)], keeping: Keeping = .everything
    ) {
        precondition(fields.count + varying.count + 4 <= Self.fieldsMax, "at most 28 fields")
        self.keeping = keeping
        let pseudo = [
            (":method", method), (":scheme", scheme), (":authority", authority), (":path", ""),
        ]
        let texts =
            (pseudo + fields.map { ($0.name, $0.value) }).flatMap { [$0.0, $0.1] }
            + varying.map(\.name) + [pathPrefix]
        constants = Self.layOut(texts)
        var offset = 0
        let pieces = texts.map { text in
            defer { offset += text.utf8.count }
            return (offset, text.utf8.count)
        }
        let base = UnsafeRawPointer(constants.baseAddress!)
        let slices = pieces.map { UnsafeRawBufferPointer(start: base + $0.0, count: $0.1) }
        fixedCount = 4 + fields.count
        names = .allocate(capacity: Self.fieldsMax)
        for index in 0..<fixedCount {
            names[index] = nghttp2_nv(
                name: slices[2 * index].bytes, value: slices[2 * index + 1].bytes,
                namelen: slices[2 * index].count, valuelen: slices[2 * index + 1].count,
                flags: Self.byPointer)
        }
        self.varying = zip(slices[(2 * fixedCount)...], varying).map { ($0, $1.kind) }
        pathPrefixCount = pathPrefix.utf8.count
        values = .allocate(byteCount: valuesCapacity, alignment: 16)
        values.copyMemory(from: slices[slices.count - 1].baseAddress!, byteCount: pathPrefixCount)
        unsendableConstant = HTTP2RequestCheck.unsendablePart(
            HTTP2Request(
                method: method, scheme: scheme, authority: authority, path: pathPrefix + "x",
                fields: fields))
    }

    deinit {
        names.deallocate()
        values.deallocate()
        constants.deallocate()
        for memory in shared { memory.deallocate() }
    }

    private static func layOut(_ texts: [String]) -> UnsafeMutableRawBufferPointer {
        let bytes = texts.flatMap { Array($0.utf8) }
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: bytes.count + 1, alignment: 16)
        memory.copyBytes(from: bytes)
        return memory
    }

    /// Tells nghttp2 not to copy: names and values stay in place until it has written them.
    static let byPointer = UInt8(
        NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)

    // MARK: The next request

    /// Begins the next request. Its path is the prefix followed by `rest`.
    package func begin(path rest: borrowing String) {
        valuesCount = pathPrefixCount
        unsendable = unsendableConstant
        let start = append(rest)
        let bytes = UnsafeRawBufferPointer(start: values + start, count: valuesCount - start)
        if HTTP2RequestCheck.hasBlankOrControl(bytes) { unsendable = "path" }
        names[3].valuelen = valuesCount
        count = fixedCount
        sharedCount = 0
    }

    /// Sets the value of field `place` of `varying`. At most once for each request.
    package func add(_ place: Int, _ value: borrowing String) {
        let field = varying[place]
        let start = append(value)
        let bytes = UnsafeRawBufferPointer(start: values + start, count: valuesCount - start)
        if HTTP2RequestCheck.hasControl(bytes) {
            unsendable = "field '\(String(decoding: field.name, as: UTF8.self))'"
        }
        names[count] = nghttp2_nv(
            name: field.name.bytes, value: nil, namelen: field.name.count, valuelen: bytes.count,
            flags: field.kind == .nameIndexed ? Self.byPointer : Self.byPointer | Self.noIndex)
        count += 1
    }

    /// Checks and keeps a value that many requests carry, such as a credential; `addShared` adds it
    /// to a request. For one field only. Each new value stays in memory as long as the template, so
    /// share only values that change a few times a day.
    package func share(_ place: Int, _ value: String) {
        guard shared.isEmpty || value != sharedText else { return }
        let memory = Self.layOut([value])
        let length = value.utf8.count
        shared.append(memory)
        sharedText = value
        let field = varying[place]
        let isGood = !HTTP2RequestCheck.hasControl(
            UnsafeRawBufferPointer(rebasing: memory[..<length]))
        unsendableShared =
            isGood ? nil : "field '\(String(decoding: field.name, as: UTF8.self))'"
        sharedField = nghttp2_nv(
            name: field.name.bytes, value: memory.baseAddress?.assumingMemoryBound(to: UInt8.self),
            namelen: field.name.count, valuelen: length,
            flags: field.kind == .nameIndexed ? Self.byPointer : Self.byPointer | Self.noIndex)
    }

    /// Adds the value that was shared last to the next request. Call it before any `add`.
    package func addShared() {
        precondition(!shared.isEmpty, "nothing was shared yet")
        if let part = unsendableShared { unsendable = part }
        names[count] = sharedField
        count += 1
        sharedCount = 1
    }

    private static let noIndex = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)

    /// Returns the offset at which the text begins.
    private func append(_ text: borrowing String) -> Int {
        let start = valuesCount
        text.utf8.span.withUnsafeBufferPointer { append($0) }
        return start
    }

    private func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        let start = valuesCount
        if start + bytes.count > valuesCapacity { grow(start + bytes.count) }
        guard let source = bytes.baseAddress else { return }
        (values + start).copyMemory(from: source, byteCount: bytes.count)
        valuesCount = start + bytes.count
    }

    private func grow(_ needed: Int) {
        valuesCapacity = max(needed, 2 * valuesCapacity)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: valuesCapacity, alignment: 16)
        larger.copyMemory(from: values, byteCount: valuesCount)
        values.deallocate()
        values = larger
    }

    // MARK: For the session

    /// Name of the part of the next request that HTTP/2 cannot carry; nil if there is none.
    var unsendablePart: String? { unsendable }

    /// Points `names` at the values at `base`. If `isCopied`, nghttp2 copies them from there.
    ///
    /// - Parameter indexesNames: true for the connection's first request of this template.
    func point(at base: UnsafeMutableRawPointer, isCopied: Bool, indexesNames: Bool) {
        let copying = UInt8(NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
        var next = base.assumingMemoryBound(to: UInt8.self)
        names[3].value = next
        names[3].flags = isCopied ? Self.byPointer & ~copying : Self.byPointer
        next += names[3].valuelen
        for index in (fixedCount + sharedCount)..<count {
            names[index].value = next
            next += names[index].valuelen
            if isCopied { names[index].flags &= ~copying }
            if !indexesNames { names[index].flags |= Self.noIndex }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// nghttp2 declares a mutable pointer but only reads.
    fileprivate var bytes: UnsafeMutablePointer<UInt8>? {
        UnsafeMutablePointer(mutating: baseAddress?.assumingMemoryBound(to: UInt8.self))
    }
}
