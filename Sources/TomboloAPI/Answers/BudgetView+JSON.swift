package import TomboloCore
package import TomboloJSON

extension Budgets {
    /// Writes the configured grant of each budget class.
    package func write(to writer: inout JSONWriter) {
        writer.beginArray()
        for budgetClass in BudgetClass.allCases {
            let grant = self[budgetClass]
            writer.beginObject()
            writer.member("class", budgetClass.name)
            writer.member("spacing", grant.spacing.text)
            writer.member("burst", grant.burst)
            writer.name("per_hour")
            if let perHour = grant.perHour { writer.number(perHour) } else { writer.null() }
            writer.member("reserve", grant.reserve)
            writer.member("low_priority_spacing", grant.lowPrioritySpacing.text)
            writer.endObject()
        }
        writer.endArray()
    }
}

extension BudgetView {
    /// Writes how much of the budget is left; null if there is no limit.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("activity", activity.rawValue)
        writer.member("device", device.rawValue)
        writer.name("grant")
        writer.grant(grant)
        writer.name("left")
        if let left { writer.integer(left) } else { writer.null() }
        writer.name("device_left")
        if let deviceLeft { writer.integer(deviceLeft) } else { writer.null() }
        writer.name("starts_left")
        if let startsLeft { writer.integer(startsLeft) } else { writer.null() }
        writer.name("phone")
        if let phone {
            writer.beginObject()
            writer.member("per_hour", phone.perHour)
            writer.member("left", phone.left)
            writer.member("basis", phone.basis.name)
            writer.endObject()
        } else {
            writer.null()
        }
        writer.optional("next_at", nextAt?.rfc3339)
        writer.optional("high_at", highAt?.rfc3339)
        if let waiting {
            writer.name("waiting")
            writer.decision(waiting)
        }
        writer.endObject()
    }
}

extension SurfaceBudgetView {
    /// Writes how much of the budget is left; null if there is no limit.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("device", device.rawValue)
        writer.member("surface", surface)
        writer.member("class", budgetClass.name)
        writer.name("left")
        if let left { writer.integer(left) } else { writer.null() }
        writer.optional("next_at", nextAt?.rfc3339)
        writer.member("wanted", isWanted)
        writer.endObject()
    }
}

/// The answer to `GET /v1/budgets`: each class's grant, and how much is left of the budgets.
package struct BudgetPage: Sendable {
    private let classes: Budgets
    private let destinations: [BudgetView]
    private let surfaces: [SurfaceBudgetView]
    private let isMore: Bool

    /// - Parameter isMore: true if there are more destinations than these.
    package init(
        classes: Budgets, destinations: [BudgetView], surfaces: [SurfaceBudgetView], isMore: Bool
    ) {
        self.classes = classes
        self.destinations = destinations
        self.surfaces = surfaces
        self.isMore = isMore
    }

    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("classes")
        classes.write(to: &writer)
        writer.name("destinations")
        writer.beginArray()
        for budget in destinations { budget.write(to: &writer) }
        writer.endArray()
        writer.name("surfaces")
        writer.beginArray()
        for budget in surfaces { budget.write(to: &writer) }
        writer.endArray()
        writer.nullable("next_cursor", isMore ? destinations.last?.place.text : nil)
        writer.endObject()
    }
}
