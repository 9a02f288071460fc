import TomboloJSON

/// An activity that start-up has set aside: its newest state is not known.
///
/// It is shown with the reason, takes no events, and nothing of it is pushed. It can be started
/// anew under its id.
package struct DamagedActivity: Hashable, Sendable {
    /// Its number, by which the log knows it.
    package var number: ActivityNumber
    /// What its head says; the last that can be read.
    package var version: Int64
    package var seq: Int64
    /// The same among the events of its tenant.
    package var tenantSeq: Int64
    /// Its head's bytes, wrong or right.
    package var head: [UInt8]
    /// The tenant that its row names, where that can be read.
    package var tenant: TenantID?
    /// What is wrong with it, for people: a clause.
    package var reason: String

    /// - Parameter tenantSeq: nil where the log has had no other tenant.
    package init(
        number: ActivityNumber, version: Int64, seq: Int64, tenantSeq: Int64? = nil, head: [UInt8],
        tenant: TenantID?, reason: String
    ) {
        self.number = number
        self.version = version
        self.seq = seq
        self.tenantSeq = tenantSeq ?? seq
        self.head = head
        self.tenant = tenant
        self.reason = reason
    }

    /// One whose head is whole as the log sees it.
    init(_ head: PlacedHead, reason: String) {
        self.init(
            number: head.head.activity, version: head.version, seq: head.seq,
            tenantSeq: head.tenantSeq, head: head.head.value, tenant: nil, reason: reason)
    }
}

extension DamagedActivity {
    /// What can be read of a head of which something cannot.
    struct Traits: Sendable {
        let key: ActivityKey
        var incarnation: Int64 = 0
        var type = ""
        var app = ""
    }

    /// nil where not even the tenant is known: nobody may see it then. Without a readable id it is
    /// shown under its number.
    var traits: Traits? {
        // What is no JSON may begin like it.
        let view = try? JSONView.stored(head)
        let written =
            view.flatMap { Self.identifier($0["tenant"]?.string) } ?? identifier(after: "tenant")
        // A row that is whole but for its head names the tenant; both must agree.
        if let tenant, let written, tenant.name != written { return nil }
        guard let tenant = tenant ?? written.map(TenantID.init) else { return nil }
        let id =
            view.flatMap { Self.identifier($0["id"]?.string) } ?? identifier(after: "id")
            ?? Identifier("damaged-\(number.rawValue)")
        return id.map { id in
            Traits(
                key: ActivityKey(tenant: tenant, id: id),
                incarnation: view?["incarnation"]?.storedCount ?? 0,
                type: view?["type"]?.string ?? "", app: view?["app"]?.string ?? "")
        }
    }

    /// Who it is, as far as that can be read.
    package var key: ActivityKey? { traits?.key }

    private static func identifier(_ text: String?) -> Identifier? {
        text.flatMap(Identifier.init)
    }

    /// The text of a member, as heads are written: an identifier has nothing to escape.
    private func identifier(after member: String) -> Identifier? {
        let name = Array("\"\(member)\":\"".utf8)
        let start = head.indices.first { head[$0...].starts(with: name) }
        guard let start else { return nil }
        let rest = head[(start + name.count)...].prefix(Identifier.bytesMax + 1)
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        return Identifier(String(decoding: rest[..<end], as: UTF8.self))
    }
}
