import Glibc
import TomboloRelay

/// Checks the modes of the relay's files. Only the owner, and a group if the operator wants that,
/// may use them: the log holds tokens and states, and the pepper guards the API keys.
struct DataModes {
    /// Paths that others could read or write until now.
    private(set) var repaired: [String] = []
    /// Paths that others may read or write and that only another user can change.
    private(set) var open: [String] = []

    private static let files = [
        "pepper", "tombolo.db", "tombolo.db-wal", "tombolo.db-shm", "tombolo.lock",
        "tombolo.crashes", "tombolo.ballast",
    ]
    private static let others: mode_t = 0o007

    /// Checks a data directory and its files. Missing files do not matter: the relay makes them.
    ///
    /// - Parameters:
    ///   - isDryRun: reports what would be repaired, and changes nothing.
    ///   - user: the user that runs the relay.
    init(_ directory: String, isDryRun: Bool, user: uid_t = geteuid()) {
        for path in [directory] + Self.files.map({ "\(directory)/\($0)" }) {
            var status = stat()
            // Do not follow a link: its target is not the relay's to change.
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

    /// Faults that keep a relay from starting.
    var findings: [ConfigurationFinding] {
        open.map { path in
            ConfigurationFinding(
                pointer: "/data",
                cause: "others may read or write \(path), and the relay does not own it",
                remedy: "chmod o-rwx \(path)")
        }
    }

    /// Log lines about repaired modes.
    var notes: [OperatorNote] {
        repaired.map { path in
            OperatorNote(
                .warning, .configurationApplied,
                "others could read or write \(path): its mode is repaired")
        }
    }
}
