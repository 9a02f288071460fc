/// The places that a batch's events and facts had among their tenants' rows in another log: one
/// number for each event and fact.
package struct ImportedPlaces: Sendable {
    package var events: [Int64] = []
    package var facts: [Int64] = []
}
