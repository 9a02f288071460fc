package import TomboloCore
package import TomboloJSON

/// The effect that a command would have: the answer to `?dry_run=true`.
package struct DryRunAnswer: Sendable {
    private let run: DryRun

    package init(_ run: DryRun) { self.run = run }

    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("dry_run", true)
        writer.member("activity", run.activity.rawValue)
        writer.member("version", run.version)
        writer.member("do", run.kind.name)
        writer.member("changes", run.changes)
        writer.name("push")
        writer.beginObject()
        writer.member("topic", run.topic)
        writer.member("push_type", run.pushType)
        writer.member("payload_bytes", run.payload.count)
        writer.member("limit_bytes", run.payloadBytesMax)
        writer.name("payload")
        writer.raw(run.payload)
        writer.endObject()
        if let plan = run.plan {
            writer.name("plan")
            writer.plan(plan)
        }
        writer.member("devices", run.devices)
        writer.name("routes")
        writer.beginArray()
        for route in run.routes {
            writer.beginObject()
            writer.member("device", route.device.rawValue)
            writer.nullable("route", route.route)
            writer.name("grant")
            writer.grant(route.grant)
            writer.endObject()
        }
        writer.endArray()
        writer.lints(run.lint)
        writer.endObject()
    }
}
