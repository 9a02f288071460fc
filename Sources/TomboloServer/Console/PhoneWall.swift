package import TomboloCore
package import TomboloJSON

/// Access to the simulated phones for `/v1/phones`. The program forwards to the simulator.
package protocol PhoneControl: Sendable {
    /// Sends one request with a path below `/v1/phones` to the simulator, and returns its JSON.
    /// Throws if the simulator does not answer.
    func answer(_ method: String, _ path: String, _ body: [UInt8]) async throws -> PhoneAnswer

    /// Starts or stops a scenario, and returns its row; nil if there is no such scenario.
    ///
    /// - Parameter runs: nil to change nothing.
    func scenario(_ name: String, runs: Bool?) async -> JSON?
}

/// The simulator's answer.
package struct PhoneAnswer: Sendable {
    package var status: Int
    package var body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// The simulated phones and the tenant to which they belong. Only `tombolo dev` has them.
package struct PhoneWall: Sendable {
    package var tenant: TenantID
    package var control: any PhoneControl

    package init(tenant: TenantID, control: any PhoneControl) {
        self.tenant = tenant
        self.control = control
    }
}
