package import TomboloCore
package import TomboloJSON

/// The effect that a command would have: the answer to `?dry_run=true`.
package struct DryRunAnswer: AnswerObject, Sendable {
    private let run: DryRun
    private let mayObserve: Bool

    /// - Parameter mayObserve: true if the key may read the tenant's data. Else the answer has only
    ///   what the request itself brought, sizes, counts and lints.
    package init(_ run: DryRun, mayObserve: Bool) {
        (self.run, self.mayObserve) = (run, mayObserve)
    }

    /// A start that changes something is made of its request alone.
    private var hasPayload: Bool { mayObserve || run.kind == .start && run.changes }

    package func write(membersTo writer: inout JSONWriter) {
        writer.member("dry_run", true)
        writer.member("activity", run.activity.rawValue)
        writer.member("version", run.version)
        writer.member("do", run.kind.name)
        writer.member("changes", run.changes)
        writer.object("push") { writer in
            writer.member("topic", run.topic)
            writer.member("push_type", run.pushType)
            writer.member("payload_bytes", run.payload.count)
            writer.member("limit_bytes", run.payloadBytesMax)
            if hasPayload {
                writer.rawMember("payload", run.payload)
            }
        }
        if let plan = run.plan { writer.named("plan") { $0.plan(plan) } }
        writer.member("devices", run.devices)
        if mayObserve { writeRoutes(to: &writer) }
        writer.lints(run.lint)
    }

    private func writeRoutes(to writer: inout JSONWriter) {
        writer.array("routes", of: run.routes) { writer, route in
            writer.object { writer in
                writer.member("device", route.device.rawValue)
                writer.nullable("route", route.route)
                writer.named("grant") { $0.grant(route.grant) }
            }
        }
    }
}
