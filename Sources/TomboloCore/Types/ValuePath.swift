import TomboloJSON

/// The way from a value to a place inside it. The pointer is made only when it is needed, so that a
/// check of 60,000 elements makes none.
///
///     var path = ValuePath("/state")
///     path.enter(.name("doors"))
///     path.enter(.index(3))
///     path.pointer("locked")  // "/state/doors/3/locked"
struct ValuePath {
    enum Step {
        case name(String)
        case index(Int)
    }

    /// The pointer to the value from which the way begins.
    private let start: String
    private var steps: [Step] = []

    init(_ start: String) { self.start = start }

    mutating func enter(_ step: Step) { steps.append(step) }

    mutating func leave() { steps.removeLast() }

    /// The pointer to the place (RFC 6901).
    ///
    /// - Parameter name: a member of the place; nil: the place itself.
    func pointer(_ name: String? = nil) -> String {
        var tokens = steps.map { step in
            switch step {
            case .name(let name): name
            case .index(let index): String(index)
            }
        }
        if let name { tokens.append(name) }
        return tokens.isEmpty ? start : start + JSONPointer(tokens: tokens).description
    }
}
