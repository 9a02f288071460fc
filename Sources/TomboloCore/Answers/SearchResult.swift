/// Something that a search has found, with what tells it from its neighbours.
package enum SearchResult: Hashable, Sendable {
    case activity(Identifier, type: String, status: ActivityStatus)
    case device(Identifier, user: String?, app: String?)
    /// - devices: how many are registered for the user; 0 if only an activity names the user.
    case user(String, devices: Int)
    case type(String, app: String)

    /// What was searched for: the id, or the name.
    var name: String {
        switch self {
        case .activity(let id, _, _), .device(let id, _, _): id.rawValue
        case .user(let name, _), .type(let name, _): name
        }
    }
}
