import TomboloAPI
import TomboloCore
import TomboloRelay

// Deeds of operators: the log stores them with the key's id, and the relay reports them.

extension ServerDoors {
    /// - Parameters:
    ///   - kind: the kind of the fact.
    ///   - members: names and values beside the key's id.
    ///   - tenant: the tenant whose log stores it; nil: the key's own.
    func deed(
        _ kind: String, _ members: KeyValuePairs<String, String>, _ request: DoorRequest,
        of tenant: TenantID? = nil
    ) -> Deed {
        // A tenant must not learn the ids of another tenant's keys.
        let isOwn = tenant == nil || tenant == request.tenant
        return Deed(
            kind, members.map { Deed.Member($0.key, $0.value) }, of: tenant ?? request.tenant,
            by: isOwn ? request.asking : .unknown)
    }

    /// Reports a completed deed to the operator.
    func tell(_ deed: Deed, _ text: String) {
        var note = OperatorNote(.info, .deed, text).adding("deed", deed.kind)
        for member in deed.members { note = note.adding(member.name, member.value) }
        report(
            note.adding("tenant", deed.tenant.name.rawValue).adding("by", deed.key.id))
    }
}

extension DoorRequest {
    /// The request's key, in the form of the log's rows.
    var asking: AskingKey { principal?.asking ?? .unknown }

    /// The tenant whose keys are meant: `?tenant=`. Only an operator of the relay may name another
    /// tenant than its own.
    func tenantOfKeys() throws(Problem) -> TenantID {
        guard let named = try identifier(inQuery: "tenant").map(TenantID.init), named != tenant
        else { return tenant }
        guard principal?.operatesRelay == true else {
            throw Problem(
                .forbidden,
                "Keys of another tenant are seen and deleted with a key of the tenant main with "
                    + "scope operate."
            ).adding("required_scope", "operate")
        }
        return named
    }
}
