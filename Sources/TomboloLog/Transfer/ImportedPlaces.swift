/// The places that events and facts of a batch have among those of their tenants, as another log
/// had them: one for each.
package struct ImportedPlaces: Sendable {
    package var events: [Int64] = []
    package var facts: [Int64] = []
}
