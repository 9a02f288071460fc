package import TomboloCore
package import TomboloJSON

extension Budgets {
    /// Writes the configured grant of each budget class.
    package func write(to writer: inout JSONWriter) {
        writer.array(of: BudgetClass.allCases) { writer, budgetClass in
            let grant = self[budgetClass]
            writer.object { writer in
                writer.member("class", budgetClass.name)
                writer.member("spacing", grant.spacing.text)
                writer.member("burst", grant.burst)
                writer.name("per_hour")
                if let perHour = grant.perHour { writer.number(perHour) } else { writer.null() }
                writer.member("reserve", grant.reserve)
                writer.member("low_priority_spacing", grant.lowPrioritySpacing.text)
            }
        }
    }
}

extension BudgetView: AnswerObject {
    /// Writes how much of the budget is left; null if there is no limit.
    package func write(membersTo writer: inout JSONWriter) {
        writer.member("activity", activity.rawValue)
        writer.member("device", device.rawValue)
        writer.named("grant") { $0.grant(grant) }
        writer.nullable("left", left)
        writer.nullable("device_left", deviceLeft)
        writer.nullable("starts_left", startsLeft)
        writer.name("phone")
        if let phone {
            writer.object { writer in
                writer.member("per_hour", phone.perHour)
                writer.member("left", phone.left)
                writer.member("basis", phone.basis.name)
            }
        } else {
            writer.null()
        }
        writer.optional("next_at", nextAt?.rfc3339)
        writer.optional("high_at", highAt?.rfc3339)
        if let waiting { writer.named("waiting") { $0.decision(waiting, trouble) } }
    }
}

extension SurfaceBudgetView: AnswerObject {
    /// Writes how much of the budget is left; null if there is no limit.
    package func write(membersTo writer: inout JSONWriter) {
        writer.member("device", device.rawValue)
        writer.member("surface", surface)
        writer.member("class", budgetClass.name)
        writer.nullable("left", left)
        writer.optional("next_at", nextAt?.rfc3339)
        writer.member("wanted", isWanted)
    }
}

/// The answer to `GET /v1/budgets`: each class's grant, and how much is left of the budgets.
package struct BudgetPage: AnswerObject, Sendable {
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

    package func write(membersTo writer: inout JSONWriter) {
        writer.named("classes") { classes.write(to: &$0) }
        writer.array("destinations", of: destinations) { $1.write(to: &$0) }
        writer.array("surfaces", of: surfaces) { $1.write(to: &$0) }
        writer.nullable("next_cursor", isMore ? destinations.last?.place.text : nil)
    }
}
