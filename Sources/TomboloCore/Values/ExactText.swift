/// Whether two texts have the same bytes, or both are absent.
///
/// `==` also calls texts equal that are canonically equivalent in Unicode, such as an accented
/// letter of one scalar and of two. A backend may have a user of each, so only the bytes decide.
package func isSameText(_ one: String?, _ other: String?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    // Most differ in length. This is called for every pause at each evaluation.
    guard one.utf8.count == other.utf8.count else { return false }
    let isSame = one.utf8.withContiguousStorageIfAvailable { one in
        other.utf8.withContiguousStorageIfAvailable { one.elementsEqual($0) }
    }
    return isSame.flatMap(\.self) ?? one.utf8.elementsEqual(other.utf8)
}

extension Hasher {
    /// Hashes what `isSameText` compares.
    mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
