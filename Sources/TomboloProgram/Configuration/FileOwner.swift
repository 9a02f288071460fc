import Glibc

/// Who owns the relay's files. Root makes keys, logs and copies for a service that runs as another
/// user: what root makes in that user's directory belongs to the directory's owner.
struct FileOwner {
    /// Files that were missing when the command began, by directory.
    private var missing: [(directory: String, names: [String])] = []
    private let begun = time(nil)

    /// Notes which files a command may make. Does nothing unless root runs it.
    init(_ configuration: Configuration?) {
        guard geteuid() == 0 else { return }
        if let data = configuration?.data { remember(DataModes.names, in: data) }
        if let pepper = configuration?.database?.pepperFile, !pepper.isEmpty {
            remember([Self.name(of: pepper)], in: Self.directory(of: pepper))
        }
    }

    private mutating func remember(_ names: [String], in directory: String) {
        missing.append((directory, names.filter { access("\(directory)/\($0)", F_OK) != 0 }))
    }

    /// Gives the files that were made since to the owners of their directories.
    func give() {
        for (directory, names) in missing { Self.give(names, in: directory, since: begun) }
    }

    /// Gives a file that this process has made, and holds open, to the owner of its directory.
    /// Does nothing unless root runs this.
    static func give(_ file: Int32, at path: String) {
        var owner = stat()
        guard geteuid() == 0, stat(directory(of: path), &owner) == 0, owner.st_uid != 0 else {
            return
        }
        _ = fchown(file, owner.st_uid, owner.st_gid)
    }

    /// A file that the owner of the directory puts there meanwhile is older, or has other links:
    /// it is left alone. Both are found by one descriptor of the directory, which nobody can swap.
    private static func give(_ names: [String], in directory: String, since begun: time_t) {
        let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { return }
        defer { close(parent) }
        var owner = stat()
        guard fstat(parent, &owner) == 0, owner.st_uid != 0 else { return }
        for name in names {
            let file = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { continue }
            defer { close(file) }
            var own = stat()
            guard fstat(file, &own) == 0, own.st_mode & S_IFMT == S_IFREG, own.st_nlink == 1,
                own.st_uid == 0, own.st_mtim.tv_sec >= begun
            else { continue }
            _ = fchown(file, owner.st_uid, owner.st_gid)
        }
    }

    /// Throws if a file of a relay's data directory belongs to somebody else and may not be used.
    static func requireUse(in directory: String) throws(ProgramError) {
        var (foreign, owner): ([String], uid_t) = ([], 0)
        for path in DataModes.paths(in: directory) {
            var status = stat()
            guard access(path, R_OK | W_OK) != 0, errno == EACCES, stat(path, &status) == 0,
                status.st_uid != geteuid()
            else { continue }
            foreign.append(path)
            owner = status.st_uid
        }
        guard let first = foreign.first else { return }
        let user = name(geteuid())
        throw ProgramError(
            "\(first) belongs to \(name(owner)), and this command runs as \(user)",
            remedy: "chown \(user): \(foreign.joined(separator: " "))")
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// The user's name, or its number if it has none.
    private static func name(_ user: uid_t) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? String(user)
    }
}
