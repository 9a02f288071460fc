/// One owner's widgets or control that must reload after an activity has changed.
///
/// A user's devices are looked up when the wish is carried out, so a wish costs the same for one
/// device as for a thousand.
struct ReloadWish: Hashable, Sendable {
    enum Owner: Hashable, Sendable {
        case user(UserKey)
        case device(DeviceKey)
    }

    let owner: Owner
    let name: TokenName
    /// The app whose widgets reload; nil: the device's own.
    let app: String?
}

extension StoredTimeline {
    /// The users and devices whose widgets show the timeline.
    var owners: [ReloadWish.Owner] {
        switch key.subject {
        case .user(let user): [.user(UserKey(tenant: key.tenant, user: user))]
        case .device(let id): [.device(DeviceKey(tenant: key.tenant, id: id))]
        case .key: timeline.readers.map { .user(UserKey(tenant: key.tenant, user: $0)) }
        }
    }
}
