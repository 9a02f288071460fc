import Synchronization

/// How long a server is waited for that says nothing. One for all connections of a log.
final class PostgresPatience: Sendable {
    private static let atEnd: Int32 = 3_000

    private let ends = Atomic(false)
    private let usual: Int32

    init(milliseconds: Int32 = 10_000) { usual = milliseconds }

    /// The log is to be closed: what is not known by then stays unknown.
    func end() { ends.store(true, ordering: .releasing) }

    var isEnding: Bool { ends.load(ordering: .acquiring) }
    /// For one answer.
    var milliseconds: Int32 { isEnding ? min(usual, Self.atEnd) : usual }
}
