/// The places of a batch's events and facts among their tenants' rows in another log: one for each
/// event and fact.
package struct ImportedPlaces: Sendable {
    package var events: [Int64] = []
    package var facts: [Int64] = []
}
