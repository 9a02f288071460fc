package import TomboloCore
package import TomboloJSON

/// The body of `POST /v1/dead-letters/retry`: `{"id":"dead_7"}` for one, or `{"where":{…}}` for all
/// that match (`{}`: all).
package struct RetryRequest: Sendable {
    package let query: DeadLetterQuery

    /// Reads the body. Throws all faults together.
    package init(_ view: JSONView, tenant: TenantID) throws(FieldErrors) {
        var query = DeadLetterQuery(tenant: tenant)
        var reader = FieldReader(view)
        let filter = reader.object("where")
        if let id = reader.string("id") {
            query.serial = DeadLetter.serial(id: id)
            if query.serial == nil { reader.fail("id", "must be the id of a dead letter") }
        }
        if (filter == nil) == (view["id"] == nil) {
            reader.fail("where", "give either id or where ({} for all)")
        }
        if let filter {
            var inner = reader.inside(filter, "where")
            query.activity = inner.identifier("activity")
            query.device = inner.identifier("device")
            query.reason = inner.string("reason")
            do { try inner.finish() } catch { reader.adopt(error) }
        }
        try reader.finish()
        self.query = query
    }
}
