import Synchronization

/// How long to wait for a server that does not answer. All connections of a log share it, except
/// that of the heartbeats.
final class PostgresPatience: Sendable {
    private static let atEnd: Int32 = 3_000
    private static let longest: Int32 = 300_000

    private let ends = Atomic(false)
    private let usual: Int32
    /// True if a wait goes on while the server works on the statement.
    let looks: Bool

    init(milliseconds: Int32 = 10_000, looks: Bool = true) {
        (usual, self.looks) = (milliseconds, looks)
    }

    /// Says that the log is about to be closed. If the outcome of a transaction is unknown, the
    /// wait for it is short from now on.
    func end() { ends.store(true, ordering: .releasing) }

    var isEnding: Bool { ends.load(ordering: .acquiring) }
    /// Time to wait for one answer, in milliseconds.
    var milliseconds: Int32 { isEnding ? min(usual, Self.atEnd) : usual }

    /// How long to wait in all, after `waited` milliseconds in which the server has worked.
    func longer(than waited: Int32) -> Int32 { waited + min(waited, Self.longest) }
}
