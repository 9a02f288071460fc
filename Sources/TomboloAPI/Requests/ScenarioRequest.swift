package import TomboloCore
package import TomboloJSON

/// The body of `PUT /v1/scenarios/{scenario}`: whether the scenario of `dev` runs.
package struct ScenarioRequest: Sendable {
    package let runs: Bool

    /// Reads the body. Throws all faults together.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        let runs = reader.bool("runs")
        reader.require("runs", ": true or false")
        try reader.finish()
        self.runs = runs ?? false
    }
}
