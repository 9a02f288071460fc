import Glibc
import TomboloRelay

/// Who may use what a relay stores: its owner, and a group if the operator wants that, and nobody
/// else. The log holds tokens and states, and the pepper guards the API keys.
struct DataModes {
    /// What others could read or write until now.
    private(set) var repaired: [String] = []
    /// What others may read or write, and only another user can change.
    private(set) var open: [String] = []

    private static let files = [
        "pepper", "tombolo.db", "tombolo.db-wal", "tombolo.db-shm", "tombolo.lock",
        "tombolo.crashes", "tombolo.ballast",
    ]
    private static let others: mode_t = 0o007

    /// Looks at a data directory and its files; what is not there yet is made for its owner alone.
    ///
    /// - Parameters:
    ///   - isDryRun: says what would be repaired, and leaves it as it is.
    ///   - user: who runs the relay.
    init(_ directory: String, isDryRun: Bool, user: uid_t = geteuid()) {
        for path in [directory] + Self.files.map({ "\(directory)/\($0)" }) {
            var status = stat()
            // What a link of somebody else's leads to is not the relay's to change.
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

    /// What keeps a relay from its start.
    var findings: [ConfigurationFinding] {
        open.map { path in
            ConfigurationFinding(
                pointer: "/data",
                cause: "others may read or write \(path), and the relay does not own it",
                remedy: "chmod o-rwx \(path)")
        }
    }

    /// What was repaired.
    var notes: [OperatorNote] {
        repaired.map { path in
            OperatorNote(
                .warning, .configurationApplied,
                "others could read or write \(path): its mode is repaired")
        }
    }
}
