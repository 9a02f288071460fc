import TomboloJSON

/// An operator's action, which is stored as a fact together with its effects.
package struct Deed: Hashable, Sendable {
    package var tenant: TenantID
    /// The kind of the fact: `key.minted`, `type.put` …
    package var kind: String
    /// Names and values that describe the action.
    package var members: [Member]
    package var key: AskingKey

    /// One of these names and values.
    package struct Member: Hashable, Sendable {
        package let name: String
        package let value: String

        /// Makes a member for the fact.
        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// - Parameters:
    ///   - tenant: the tenant to which the action belongs.
    ///   - key: the operator's API key.
    package init(_ kind: String, _ members: [Member], of tenant: TenantID, by key: AskingKey) {
        (self.tenant, self.kind, self.members, self.key) = (tenant, kind, members, key)
    }

    var body: [UInt8] {
        JSONWriter.objectBytes { writer in
            for member in members { writer.member(member.name, member.value) }
            writer.member("by", key.id)
        }
    }
}
