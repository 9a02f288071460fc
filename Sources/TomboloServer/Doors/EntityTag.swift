/// Entity tags (RFC 9110, section 8.8.3) as clients send them back.
///
/// A proxy that compresses an answer weakens its tag (`W/"v3"`) or appends the name of the coding
/// (`"v3-gzip"`). Such a tag still names the same version, so both forms count, also in `If-Match`,
/// where the RFC compares strongly: a tag of this relay names a version and not bytes.
enum EntityTag {
    /// The non-empty elements of a list (RFC 9110, section 5.6.1), as this relay wrote them.
    static func list(_ field: String) -> [String] {
        field.split(separator: ",").map(asWritten).filter { !$0.isEmpty }
    }

    private static func asWritten(_ element: Substring) -> String {
        var tag = element.drop(while: isSpace)
        while let last = tag.last, isSpace(last) { tag.removeLast() }
        if tag.hasPrefix("W/\"") { tag.removeFirst(2) }
        guard let coding = codings.first(where: { tag.hasSuffix("-\($0)\"") }) else {
            return String(tag)
        }
        tag.removeLast(coding.utf8.count + 2)
        // Some write two hyphens.
        if tag.hasSuffix("-") { tag.removeLast() }
        return tag + "\""
    }

    /// Content codings of RFC 9110 (section 8.4.1), RFC 7932 and RFC 8878.
    private static let codings = ["gzip", "br", "deflate", "zstd"]

    private static func isSpace(_ character: Character) -> Bool {
        character == " " || character == "\t"
    }
}
