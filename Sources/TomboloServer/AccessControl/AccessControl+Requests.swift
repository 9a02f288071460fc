import TomboloAPI
import TomboloCore
import TomboloHTTP

extension AccessControl {
    /// Authenticates a request by `Authorization: Bearer KEY` (RFC 6750, section 2.1) only.
    func principal(of head: HTTPRequestHead) throws(Problem) -> Principal {
        let mint = Self.howToMint("produce,observe")
        guard let field = head.fields["authorization"] else {
            throw Problem(
                .unauthorized, "There is no API key. Send Authorization: Bearer KEY. \(mint)")
        }
        guard head.fields.values("authorization").count == 1 else {
            throw Problem(.invalidHeader, "authorization is given more than once. Give it once.")
        }
        let parts = field.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw Problem(.unauthorized, "The Authorization field must read: Bearer KEY. \(mint)")
        }
        let key: APIKey
        do {
            key = try APIKey(String(parts[1]))
        } catch .malformed {
            throw Problem(
                .unauthorized, "This is not an API key. API keys look like tmb_live_…. \(mint)")
        } catch {
            throw Problem(
                .unauthorized,
                "The API key was cut or mistyped: its check digits do not match. Copy it whole.")
        }
        let verdict = verdict(on: key)
        switch verdict {
        case .known(let principal): return principal
        case .expired(let end, let id):
            var problem = Problem(
                .unauthorized,
                "The API key expired at \(end.rfc3339). \(mint), or rotate keys before they end: "
                    + "tombolo key rotate ID")
            problem.keyID = id
            throw problem
        case .removed, .unknown:
            var problem = Problem(
                .unauthorized,
                "The API key is not known here: it was deleted, or it belongs to another relay. "
                    + "\(mint)"
            )
            if case .removed(let id) = verdict { problem.keyID = id }
            throw problem
        }
    }

    /// Throws if the key was deleted or has expired since its request began. Long requests (streams
    /// and uploads) call this repeatedly.
    func checkStillValid(_ principal: Principal?) throws(Problem) {
        guard let principal, isGone(principal) else { return }
        throw Problem(
            .unauthorized,
            "The API key was deleted or expired while the request ran. Use another key.")
    }

    /// The refusal for a key whose scopes do not allow a request.
    static func forbidden(
        _ access: Access, device: Identifier? = nil, key: Principal, errors: [FieldError] = []
    ) -> Problem {
        let needed = access.scopeNeeded(device: device) ?? "operate"
        let has = key.scopes.scopes.map(\.text).joined(separator: ", ")
        return Problem(
            .forbidden,
            "The key lacks the scope \(needed); it has \(has). \(howToMint(needed))",
            errors: errors
        ).adding("required_scope", needed)
    }

    /// Returns a sentence that says how to mint a key through the API. (`--data` does not work
    /// while the relay runs, because the relay locks its directory.) Suggests `produce,observe` for
    /// either one, because most clients need both.
    private static func howToMint(_ scopes: String) -> String {
        let scopes = ["produce", "observe"].contains(scopes) ? "produce,observe" : scopes
        return "Make one with a key of scope operate: "
            + "tombolo key mint --scope \(scopes) --relay ORIGIN --key KEY"
    }
}
