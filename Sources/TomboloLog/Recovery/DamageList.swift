import Synchronization

/// Damaged rows that reads found, one line each. Limited, because a page of a ruined file has many.
package final class DamageList: Sendable {
    /// Most lines: enough for a person. `verify` counts all damage.
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
