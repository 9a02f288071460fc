package import TomboloCore
package import TomboloJSON

/// A page of `GET /v1/activities`.
package struct ActivityPage: Sendable {
    package var activities: [ActivityView]
    package var next: Identifier?

    package init(activities: [ActivityView], next: Identifier?) {
        self.activities = activities
        self.next = next
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.array("activities", of: activities) { $1.write(to: &$0) }
            writer.nullable("next_cursor", next?.rawValue)
        }
    }
}
