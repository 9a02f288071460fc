import Synchronization

/// How long to wait for a silent server. All connections of a log share it.
final class PostgresPatience: Sendable {
    private static let atEnd: Int32 = 3_000

    private let ends = Atomic(false)
    private let usual: Int32

    init(milliseconds: Int32 = 10_000) { usual = milliseconds }

    /// The log is about to be closed: unknown outcomes stay unknown after a short wait.
    func end() { ends.store(true, ordering: .releasing) }

    var isEnding: Bool { ends.load(ordering: .acquiring) }
    /// Time to wait for one answer.
    var milliseconds: Int32 { isEnding ? min(usual, Self.atEnd) : usual }
}
