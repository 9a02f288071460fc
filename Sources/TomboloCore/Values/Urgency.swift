/// How important a change is to its producer. The pacer chooses the push's priority by it.
package enum Urgency: UInt8, Hashable, Sendable {
    case low, normal, high

    static let choices: [(String, Urgency)] = [("low", .low), ("normal", .normal), ("high", .high)]

    package var name: String { Self.choices[Int(rawValue)].0 }
}
