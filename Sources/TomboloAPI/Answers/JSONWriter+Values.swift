import TomboloCore
import TomboloJSON

/// Formats that all answers share.
extension JSONWriter {
    /// Writes a whole number without a fraction: 11, not 11.0.
    mutating func number(_ value: Double) {
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 {
            integer(whole)
        } else {
            double(value)
        }
    }

    /// Writes a member only if there is a value.
    mutating func optional(_ name: String, _ value: String?) {
        if let value { member(name, value) }
    }

    mutating func optional(_ name: String, _ value: Int64?) {
        if let value { member(name, value) }
    }

    mutating func optional(_ name: String, _ value: Bool?) {
        if let value { member(name, value) }
    }

    /// Writes `{"class","spacing","per_hour"}`. `per_hour` is null if there is no limit per hour.
    mutating func grant(_ grant: GrantInForce) {
        beginObject()
        member("class", grant.budgetClass.name)
        member("spacing", grant.grant.spacing.text)
        name("per_hour")
        if let perHour = grant.grant.perHour { number(perHour) } else { null() }
        endObject()
    }

    /// Writes `{"action","until","reason","reason_text"}`.
    ///
    /// - Parameter trouble: why the app's upstream is closed.
    mutating func decision(_ decision: Decision, _ trouble: String?) {
        beginObject()
        member("action", decision.action)
        optional("until", decision.until?.rfc3339)
        optional("reason", decision.reason)
        optional("reason_text", decision.reasonText(closedBy: trouble))
        endObject()
    }
}
