import Synchronization

/// Damaged rows that reads have found, one line each. The list is limited, because a badly damaged
/// file has very many.
package final class DamageList: Sendable {
    /// Maximum number of lines: enough for a person. `verify` counts all damage.
    package static let linesMax = 100

    private let lines = Mutex<[String]>([])

    package init() {}

    package var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) {
        lines.withLock { lines in
            guard lines.count < Self.linesMax, !lines.contains(line) else { return }
            lines.append(line)
        }
    }
}
