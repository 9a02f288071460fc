import TomboloJSON

/// What an operator does, as the log keeps it: a fact that is stored with what it brings about.
package struct Deed: Hashable, Sendable {
    package var tenant: TenantID
    /// A word for the fact: `key.minted`, `type.put` …
    package var kind: String
    /// What it is done to.
    package var members: [Member]
    package var key: AskingKey

    /// A name and what it is.
    package struct Member: Hashable, Sendable {
        package let name: String
        package let value: String

        /// Both as the fact has them.
        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// - Parameters:
    ///   - tenant: whose log keeps it.
    ///   - key: who asks.
    package init(_ kind: String, _ members: [Member], of tenant: TenantID, by key: AskingKey) {
        (self.tenant, self.kind, self.members, self.key) = (tenant, kind, members, key)
    }

    var body: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for member in members { writer.member(member.name, member.value) }
        writer.member("by", key.id)
        writer.endObject()
        return writer.bytes
    }
}
