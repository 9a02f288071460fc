import TomboloAPI
import TomboloCore
import TomboloRelay

// What operators do: the log keeps it with the id of the key that asked, and a line says it.

extension ServerDoors {
    /// - Parameters:
    ///   - kind: the word for the fact.
    ///   - members: names and values beside the key's.
    ///   - tenant: whose log keeps it; nil: the key's own.
    func deed(
        _ kind: String, _ members: KeyValuePairs<String, String>, _ request: DoorRequest,
        of tenant: TenantID? = nil
    ) -> Deed {
        // A tenant does not learn the ids of another one's keys.
        let isOwn = tenant == nil || tenant == request.tenant
        return Deed(
            kind, members.map { Deed.Member($0.key, $0.value) }, of: tenant ?? request.tenant,
            by: isOwn ? request.asking : .unknown)
    }

    /// It is done.
    func tell(_ deed: Deed, _ text: String) {
        var note = OperatorNote(.info, .deed, text).adding("deed", deed.kind)
        for member in deed.members { note = note.adding(member.name, member.value) }
        report(
            note.adding("tenant", deed.tenant.name.rawValue).adding("by", deed.key.id))
    }
}

extension DoorRequest {
    /// The key that asks, as rows of the log keep it.
    var asking: AskingKey { principal?.asking ?? .unknown }

    /// The tenant whose keys are meant: `?tenant=`, which only an operator of the relay may give
    /// for another than its own.
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
