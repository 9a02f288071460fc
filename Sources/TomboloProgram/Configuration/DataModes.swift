import Glibc
import TomboloRelay

/// Checks the modes of the relay's files. Only their owner, and a group if the operator chooses so,
/// may use them: the log holds tokens and states, and the pepper protects the API keys.
struct DataModes {
    /// Paths that others could read or write before they were repaired.
    private(set) var repaired: [String] = []
    /// Paths that others can read or write, and whose mode the relay's user cannot change.
    private(set) var open: [String] = []

    /// The files that a relay has in its data directory. Not all of them are always there.
    static let names = [
        "pepper", "tombolo.db", "tombolo.db-wal", "tombolo.db-shm", "tombolo.lock",
        "tombolo.crashes", "tombolo.ballast",
    ]

    static func paths(in directory: String) -> [String] { names.map { "\(directory)/\($0)" } }

    private static let others: mode_t = 0o007

    /// Checks a data directory and its files. Files that are missing are ignored, because the relay
    /// will make them.
    ///
    /// - Parameters:
    ///   - isDryRun: true to report what would be repaired and change nothing.
    ///   - user: the user that runs the relay.
    init(_ directory: String, isDryRun: Bool, user: uid_t = geteuid()) {
        for path in [directory] + Self.paths(in: directory) {
            var status = stat()
            // Do not follow a link, because its target may not belong to the relay.
            let isThere = path == directory ? stat(path, &status) : lstat(path, &status)
            guard isThere == 0, status.st_mode & S_IFMT != S_IFLNK,
                status.st_mode & Self.others != 0
            else { continue }
            let isOwn = user == 0 || status.st_uid == user
            let mode = status.st_mode & 0o7770
            if isOwn, isDryRun || chmod(path, mode) == 0 {
                repaired.append(path)
            } else {
                open.append(path)
            }
        }
    }

    /// Faults with which a relay cannot start.
    var findings: [ConfigurationFinding] {
        open.map { path in
            ConfigurationFinding(
                pointer: "/data",
                cause: "others may read or write \(path), and the relay does not own it",
                remedy: "chmod o-rwx \(path)")
        }
    }

    /// Notes for the log about repaired modes.
    var notes: [OperatorNote] {
        repaired.map { path in
            OperatorNote(
                .warning, .configurationApplied,
                "others could read or write \(path): its mode is repaired")
        }
    }
}
