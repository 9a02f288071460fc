import Synchronization

/// Damaged rows that were met, one line each; kept short, as a page over a ruined file meets many.
package final class DamageList: Sendable {
    /// Enough for a person; `verify` lists all.
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
