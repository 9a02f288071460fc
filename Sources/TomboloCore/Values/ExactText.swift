/// True if two texts have the same bytes, or if both are nil.
///
/// `==` also calls texts equal that are equivalent in Unicode, such as an accented letter as one
/// scalar and as two. A producer may have a user of each name, so the bytes must decide.
package func isSameText(_ one: String?, _ other: String?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    // Fast path: most texts differ in length. Each examination calls this for each pause.
    guard one.utf8.count == other.utf8.count else { return false }
    let isSame = one.utf8.withContiguousStorageIfAvailable { one in
        other.utf8.withContiguousStorageIfAvailable { one.elementsEqual($0) }
    }
    return isSame.flatMap(\.self) ?? one.utf8.elementsEqual(other.utf8)
}

extension Hasher {
    /// Hashes the bytes that `isSameText` compares.
    mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
