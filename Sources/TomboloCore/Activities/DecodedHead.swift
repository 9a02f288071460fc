/// An activity's head, decoded without a core: for tools on a log without a relay, and for
/// activities that ended long ago.
package struct DecodedHead: Sendable {
    package let key: ActivityKey
    /// The incarnation, counted as in `ActivityFold`.
    package let incarnation: Int64
    /// The name of the app's `ActivityAttributes` type.
    package let type: String
    /// The bundle id of its app.
    package let app: String
    package let projection: Projection

    /// Returns nil if the bytes are not a valid head.
    package init?(_ value: [UInt8], version: Int64) {
        guard
            let activity = Activity(
                head: value, number: ActivityNumber(0), version: version, seq: 0)
        else { return nil }
        key = activity.key
        incarnation = activity.incarnation
        type = activity.definition.type
        app = activity.definition.app
        projection = activity.accepted
    }
}
