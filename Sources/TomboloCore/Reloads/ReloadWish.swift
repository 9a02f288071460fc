/// The widgets or the control to reload because an activity has changed.
///
/// A user's devices are found when the wish is granted, so a wish costs the same for one device as
/// for a thousand.
struct ReloadWish: Hashable, Sendable {
    enum Owner: Hashable, Sendable {
        case user(UserKey)
        case device(DeviceKey)
    }

    let owner: Owner
    let name: TokenName
    /// The app whose widgets reload; nil means the device's own app.
    let app: String?
}

extension StoredTimeline {
    /// The users or devices whose widgets show the timeline.
    var owners: [ReloadWish.Owner] {
        switch key.subject {
        case .user(let user): [.user(UserKey(tenant: key.tenant, user: user))]
        case .device(let id): [.device(DeviceKey(tenant: key.tenant, id: id))]
        case .key: timeline.readers.map { .user(UserKey(tenant: key.tenant, user: $0)) }
        }
    }
}
