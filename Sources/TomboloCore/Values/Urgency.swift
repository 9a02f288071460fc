/// How much a change matters to its producer; the pacer makes a priority of it.
package enum Urgency: UInt8, Hashable, Sendable {
    case low, normal, high

    static let choices: [(String, Urgency)] = [("low", .low), ("normal", .normal), ("high", .high)]

    package var name: String { Self.choices[Int(rawValue)].0 }
}
