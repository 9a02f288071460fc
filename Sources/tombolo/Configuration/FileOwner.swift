import Glibc

/// Who owns the relay's files. Root makes keys, logs and copies for a service that runs as another
/// user: what root makes in that user's directory belongs to the directory's owner.
enum FileOwner {
    /// Gives a new file to the owner of its directory. Does nothing unless root runs this and owns
    /// the file.
    static func give(_ path: String) {
        guard geteuid() == 0 else { return }
        // Without links: the directory's owner must not get another file of root's.
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        var (own, parent) = (stat(), stat())
        guard fstat(file, &own) == 0, own.st_mode & S_IFMT == S_IFREG, own.st_nlink == 1,
            own.st_uid == 0, stat(directory(of: path), &parent) == 0, parent.st_uid != 0
        else { return }
        _ = fchown(file, parent.st_uid, parent.st_gid)
    }

    /// The same for all files that a relay has in its data directory.
    static func give(in directory: String) {
        for path in DataModes.paths(in: directory) { give(path) }
    }

    /// Throws if a file, or the directory, belongs to somebody else and may not be used.
    static func requireUse(of path: String) throws(ProgramError) {
        var status = stat()
        guard access(path, R_OK | W_OK) != 0, errno == EACCES, stat(path, &status) == 0,
            status.st_uid != geteuid()
        else { return }
        let user = name(geteuid())
        throw ProgramError(
            "\(path) belongs to \(name(status.st_uid)), and this command runs as \(user)",
            remedy: "chown \(user): \(path)")
    }

    /// The same for a data directory and its files.
    static func requireUse(in directory: String) throws(ProgramError) {
        try requireUse(of: directory)
        for path in DataModes.paths(in: directory) { try requireUse(of: path) }
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The user's name, or its number if it has none.
    private static func name(_ user: uid_t) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? String(user)
    }
}
