import TomboloJSON

/// The values of a head before they are encoded: everything that start-up needs to restore an
/// activity. It is small compared with the activity, so one for each batch is cheap.
struct HeadState: Sendable {
    private let key: ActivityKey
    private let incarnation: Int64
    private let definition: Activity.DefinitionBox
    private let projection: Projection
    /// The waiting alerts except the newest one, which the projection contains.
    private let olderAlerts: [Projection.PendingAlert]
    private let lives: [EarlierLife]

    init(of activity: borrowing Activity) {
        key = activity.key
        incarnation = activity.incarnation
        definition = activity.definitionBox
        projection = activity.accepted
        olderAlerts = Self.olderAlerts(of: activity)
        lives = activity.hasLives ? activity.lives ?? [] : []
    }

    /// Approximate memory use in bytes.
    var sizeEstimate: Int {
        512 + projection.state.bytes.count + definition.value.attributes.bytes.count
    }

    func bytes() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", key.id.rawValue)
            writer.member("tenant", key.tenant.name.rawValue)
            writer.member("incarnation", incarnation)
            definition.value.write(into: &writer)
            projection.write(into: &writer)
            writeOlderAlerts(into: &writer)
            if !lives.isEmpty { writer.array("lives", of: lives) { $1.write(into: &$0) } }
        }
        return writer.bytes
    }

    private static func olderAlerts(
        of activity: borrowing Activity
    ) -> [Projection.PendingAlert] {
        guard !activity.alerts.isEmpty || !activity.comingAlerts.isEmpty else { return [] }
        let (newest, beganAt) = (activity.accepted.alert?.version, activity.beganAt)
        let changedAt = activity.accepted.changedAt
        return (activity.alerts + activity.comingAlerts).suffix(Alert.waitingMax).filter {
            $0.version != newest && $0.version >= beganAt && $0.expiresAt > changedAt
        }
    }

    private func writeOlderAlerts(into writer: inout JSONWriter) {
        guard !olderAlerts.isEmpty else { return }
        writer.array("alerts", of: olderAlerts) { writer, alert in
            writer.object { writer in
                writer.member("alert", alert.content)
                writer.member("alert_version", alert.version)
                writer.member("alert_expires", alert.expiresAt.nanoseconds)
            }
        }
    }
}

extension Activity.Definition {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.member("type", type)
        writer.member("app", app)
        audience.write(into: &writer)
        writer.member("route", Int64(route.rawValue))
        writer.member("attributes", attributes)
        writer.member("unknown", Int64(onUnknownStart.rawValue))
        if startWait != Start.startWaitDefault {
            writer.member("start_wait", startWait.nanoseconds)
        }
        if let endAfter { writer.member("end_after", endAfter.nanoseconds) }
        if onTokenGone != .stop { writer.member("token_gone", Int64(onTokenGone.rawValue)) }
        if renew != .never { writer.member("renew", Int64(renew.rawValue)) }
        if framesShowWhen != .background {
            writer.member("frames_when", Int64(framesShowWhen.rawValue))
        }
        writer.member("started", startedAt.nanoseconds)
        writer.member("digest", String(digest))
    }
}
