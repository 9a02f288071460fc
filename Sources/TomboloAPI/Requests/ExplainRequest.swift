package import TomboloCore
package import TomboloJSON

/// The body of `POST /v1/explain`: `{"token":…}`, `{"apns_id":…}` or `{"user":…}`. These values
/// must not be in a URL, because URLs are logged.
package enum ExplainRequest: Hashable, Sendable {
    /// A token that a device has now.
    case token(String)
    case push(APNsID)
    /// All devices of this user.
    case user(String)

    /// Reads the body. Throws all faults together.
    package init(_ view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        let (token, user) = (reader.string("token"), reader.string("user"))
        let id = reader.string("apns_id")
        let push = id.flatMap { APNsID(text: $0) }
        if id != nil, push == nil { reader.fail("apns_id", "must be a UUID") }
        reader.requireOne(of: ["token", "apns_id", "user"], "give one of token, apns_id and user")
        try reader.finish()
        if let token {
            self = .token(token)
        } else if let push {
            self = .push(push)
        } else {
            self = .user(user ?? "")
        }
    }
}
