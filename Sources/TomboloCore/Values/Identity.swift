import TomboloJSON

/// An id that a client has chosen, unique within its tenant. It is checked once, when it is parsed.
///
/// It has 1 to 128 letters, digits and `. _ : @ -`. The relay itself uses `~` between an activity's
/// id and its incarnation, and `/` separates the parts of a path.
package struct Identifier: Hashable, Comparable, Sendable, CustomStringConvertible {
    package static let bytesMax = 128

    package let rawValue: String

    /// Returns nil if the text is empty or too long, has another character, or is `.` or `..`,
    /// which a path cannot contain.
    package init?(_ rawValue: String) {
        guard (1...Self.bytesMax).contains(rawValue.utf8.count),
            rawValue.utf8.allSatisfy(Self.isAllowed), rawValue != ".", rawValue != ".."
        else { return nil }
        self.rawValue = rawValue
    }

    /// True if an id may have this byte.
    package static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    package static func < (one: Identifier, other: Identifier) -> Bool {
        one.rawValue < other.rawValue
    }

    package var description: String { rawValue }

    /// An id that no activity can have: its path is that of the request to end many activities.
    package static let reserved = Identifier("end")

    /// How to start an activity with this id, as the end of a sentence.
    package var wayToStart: String {
        self == Self.reserved
            ? "no activity can have this id: POST /v1/activities/end is the end of many"
            : "start it with PUT /v1/activities/\(rawValue)"
    }
}

/// The owner of apps, keys and ids. An id is always looked up together with its tenant.
package struct TenantID: Hashable, Comparable, Sendable {
    package let name: Identifier
    package init(_ name: Identifier) { self.name = name }
    package static func < (one: TenantID, other: TenantID) -> Bool { one.name < other.name }

    /// The tenant that applies if none is named.
    package static let main = {
        guard let name = Identifier("main") else { preconditionFailure("main is an identifier") }
        return TenantID(name)
    }()
}

/// An activity by its producer's id. It is no joined string, so different pairs are different keys.
package struct ActivityKey: Hashable, Sendable {
    package var tenant: TenantID
    package var id: Identifier
    package init(tenant: TenantID, id: Identifier) {
        self.tenant = tenant
        self.id = id
    }
}

/// A device, which is one installation of one app, by its id.
package struct DeviceKey: Hashable, Sendable {
    package var tenant: TenantID
    package var id: Identifier
    package init(tenant: TenantID, id: Identifier) {
        self.tenant = tenant
        self.id = id
    }
}

/// The number that an activity gets at its first start and keeps forever. Rows of the log contain
/// it.
package struct ActivityNumber: Hashable, Comparable, Sendable {
    /// Maximum: 2⁴⁷, so that computations cannot overflow.
    package static let max: Int64 = 1 << 47

    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
    package static func < (one: ActivityNumber, other: ActivityNumber) -> Bool {
        one.rawValue < other.rawValue
    }
}

/// Apple's environments. A token of one is not known in the other.
package enum APNsEnvironment: UInt8, Hashable, Sendable {
    case production = 0
    case sandbox = 1

    /// Reads `production` or `sandbox`. Returns nil for other texts.
    package init?(name: String) {
        switch name {
        case "production": self = .production
        case "sandbox": self = .sandbox
        default: return nil
        }
    }

    package var name: String { self == .production ? "production" : "sandbox" }

    /// Reads a member that names an environment. Returns nil if it is missing or faulty, and notes
    /// the fault.
    package static func reading(_ name: String, _ reader: inout FieldReader) -> Self? {
        guard let value = reader.value(name) else { return nil }
        if let environment = value.string.flatMap(Self.init(name:)) { return environment }
        reader.fail(
            name,
            "must be \"sandbox\" (an app that Xcode installs: Apple's development environment) or "
                + "\"production\" (TestFlight and App Store)")
        return nil
    }
}
