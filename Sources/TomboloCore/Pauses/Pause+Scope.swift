extension Pause {
    /// True if the pause holds back pushes of the activity.
    func holds(_ activity: Activity) -> Bool {
        switch scope {
        case .all, .app: holds(app: activity.definition.app, of: activity.key.tenant)
        case .type(let type):
            activity.key.tenant == tenant && isSameText(activity.definition.type, type)
        case .activity(let id): activity.key == ActivityKey(tenant: tenant, id: id)
        }
    }

    /// True if the pause holds back all pushes of the app.
    func holds(app: String?, of tenant: TenantID) -> Bool {
        guard tenant == self.tenant else { return false }
        return switch scope {
        case .all: true
        case .app(let id): id == app
        case .type, .activity: false
        }
    }
}
