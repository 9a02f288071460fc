import Synchronization

/// How long to wait for a server that does not answer. All connections of a log share it.
final class PostgresPatience: Sendable {
    private static let atEnd: Int32 = 3_000

    private let ends = Atomic(false)
    private let usual: Int32

    init(milliseconds: Int32 = 10_000) { usual = milliseconds }

    /// Says that the log is about to be closed. If the outcome of a transaction is unknown, the
    /// wait for it is short from now on.
    func end() { ends.store(true, ordering: .releasing) }

    var isEnding: Bool { ends.load(ordering: .acquiring) }
    /// Time to wait for one answer, in milliseconds.
    var milliseconds: Int32 { isEnding ? min(usual, Self.atEnd) : usual }
}
