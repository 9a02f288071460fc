/// Whose widgets, or whose control, are to reload because an activity has changed.
///
/// A user's devices are found when the wish is granted: a wish costs the same for one as for a
/// thousand.
struct ReloadWish: Hashable, Sendable {
    enum Owner: Hashable, Sendable {
        case user(UserKey)
        case device(DeviceKey)
    }

    let owner: Owner
    let name: TokenName
    /// Of which app; nil: of whichever the device has.
    let app: String?
}

extension StoredTimeline {
    /// Whose widgets show it.
    var owners: [ReloadWish.Owner] {
        switch key.subject {
        case .user(let user): [.user(UserKey(tenant: key.tenant, user: user))]
        case .device(let id): [.device(DeviceKey(tenant: key.tenant, id: id))]
        case .key: timeline.readers.map { .user(UserKey(tenant: key.tenant, user: $0)) }
        }
    }
}
