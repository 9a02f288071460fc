import TomboloAPI
import TomboloCore
import TomboloRelay

// Deeds: the actions of operators. The log stores each with the key's id, and the relay reports it.

extension ServerDoors {
    /// Makes the fact about an operator's action.
    ///
    /// - Parameters:
    ///   - kind: the kind of the fact.
    ///   - members: names and values beside the key's id.
    ///   - tenant: the tenant whose log stores it; nil: the tenant of the request's key.
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

    /// Reports a completed action to the operator.
    func tell(_ deed: Deed, _ text: String) {
        var note = OperatorNote(.info, .deed, text).adding("deed", deed.kind)
        for member in deed.members { note = note.adding(member.name, member.value) }
        report(note.adding("tenant", deed.tenant.name.rawValue).adding("by", deed.key.id))
    }
}

extension DoorRequest {
    /// The request's key, in the form of the log's rows.
    var asking: AskingKey { principal?.asking ?? .unknown }

    /// The tenant whose keys the request concerns: `?tenant=`, or the key's own. Throws if another
    /// tenant is named and the key is not of the relay's operator.
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
