package import TomboloCore

/// The simulator's phones, as `/v1/phones` reaches them; the program forwards to its control port.
package protocol PhoneControl: Sendable {
    /// Sends one request to the simulator: a path below `/v1/phones`, and the answer's JSON.
    /// Throws where the simulator does not answer.
    func answer(_ method: String, _ path: String, _ body: [UInt8]) async throws -> PhoneAnswer
}

/// What the simulator said.
package struct PhoneAnswer: Sendable {
    package var status: Int
    package var body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// Phones that one can touch: there are some in `tombolo dev` only, and they are one tenant's.
package struct PhoneWall: Sendable {
    package var tenant: TenantID
    package var control: any PhoneControl

    package init(tenant: TenantID, control: any PhoneControl) {
        self.tenant = tenant
        self.control = control
    }
}
