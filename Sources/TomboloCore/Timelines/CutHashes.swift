/// Of a timeline's contents the hashes of what families get, so that a widget that has them already
/// costs no cut. Made when they are first asked for; gone with the timeline that they are of.
///
/// On the core's thread only.
final class CutHashes: @unchecked Sendable {
    // Sendable: used by the core and by what it answers, on the core's thread.

    /// What is hashed of an entry.
    enum Part { case all, content }

    private struct Key: Hashable {
        var part: Part
        var family: WidgetFamily?
    }

    private var known: [Key: (cut: FamilyCut?, hashes: [UInt64?])] = [:]

    /// The hash of each place, in the order of `places`.
    ///
    /// - Parameters:
    ///   - cut: nil: all of it.
    ///   - places: of each its place among the body's entries; nil: the body itself.
    ///   - count: the body's entries.
    ///   - make: the same, made from the contents, of one place after the other.
    func hashes(
        _ part: Part, of places: [Int?], _ family: WidgetFamily?, _ cut: FamilyCut?,
        among count: Int, _ make: () -> [UInt64]
    ) -> [UInt64] {
        // A type that is registered anew may cut in another way.
        var hashes =
            known[Key(part: part, family: family)].flatMap { $0.cut == cut ? $0.hashes : nil }
            ?? Array(repeating: nil, count: count + 1)
        let found = places.compactMap { hashes[$0.map { $0 + 1 } ?? 0] }
        if found.count == places.count { return found }
        let made = make()
        for (place, hash) in zip(places, made) { hashes[place.map { $0 + 1 } ?? 0] = hash }
        known[Key(part: part, family: family)] = (cut, hashes)
        return made
    }
}
