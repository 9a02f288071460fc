import TomboloJSON

/// An activity that start-up has set aside because its newest state is unknown. Readers see it with
/// the reason. It takes no events and gets no pushes. It can be started again under its id.
package struct DamagedActivity: Hashable, Sendable {
    package var number: ActivityNumber
    /// Version of the stored head; `seq` is the place of its newest event in the log.
    package var version: Int64
    package var seq: Int64
    /// The place of that event among the events of its tenant.
    package var tenantSeq: Int64
    /// The head's bytes, damaged or not.
    package var head: [UInt8]
    /// The tenant that the log names beside the head, if it can be read.
    package var tenant: TenantID?
    /// Says to people what is damaged, as a part of a sentence.
    package var reason: String

    /// - Parameter tenantSeq: nil if the log has had only one tenant; then it equals `seq`.
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

    /// Makes a damaged activity from a head that the log could read.
    init(_ head: PositionedHead, reason: String) {
        self.init(
            number: head.head.activity, version: head.version, seq: head.seq,
            tenantSeq: head.tenantSeq, head: head.head.value, tenant: nil, reason: reason)
    }
}

extension DamagedActivity {
    /// The readable part of a damaged head.
    struct Traits: Sendable {
        let key: ActivityKey
        var incarnation: Int64 = 0
        var type = ""
        var app = ""
    }

    /// Returns nil if the tenant is unknown or two names contradict: then no tenant may see the
    /// activity. An activity without a readable id is named `damaged-` and its number.
    var traits: Traits? {
        // If the bytes are not valid JSON, the members are searched in the raw bytes below.
        let view = try? JSONView.stored(head)
        let written =
            view.flatMap { Self.identifier($0["tenant"]?.string) } ?? identifier(after: "tenant")
        // If the log names the tenant beside the head, both names must be equal.
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

    package var key: ActivityKey? { traits?.key }

    private static func identifier(_ text: String?) -> Identifier? {
        text.flatMap(Identifier.init)
    }

    /// The text of a member, searched in the raw bytes. An identifier never needs JSON escapes.
    private func identifier(after member: String) -> Identifier? {
        let name = Array("\"\(member)\":\"".utf8)
        let start = head.indices.first { head[$0...].starts(with: name) }
        guard let start else { return nil }
        let rest = head[(start + name.count)...].prefix(Identifier.bytesMax + 1)
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        return Identifier(String(decoding: rest[..<end], as: UTF8.self))
    }
}
