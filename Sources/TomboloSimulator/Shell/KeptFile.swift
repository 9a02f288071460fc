import Glibc

/// A small file that is read and written whole.
struct KeptFile {
    let path: String
    private static let bytesMax = 64 << 20

    /// Returns the bytes; nil if there is no file. Throws if the file cannot be read, or if it is
    /// larger than 64 MiB and so cannot come from this program.
    func read() throws(SimulatorError) -> [UInt8]? {
        // O_NONBLOCK: if the path is a pipe, opening it must not block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("cannot be opened")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFIFO else {
            throw SimulatorError("\(path) is a pipe, and no file; delete it")
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while bytes.count <= Self.bytesMax {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count == 0 { return bytes }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw failure("cannot be read")
            }
            bytes += piece[..<count]
        }
        throw SimulatorError("\(path) is larger than 64 MiB; is it the right file?")
    }

    /// Replaces the file atomically: a reader sees the old bytes or the new ones, never a part.
    func write(_ bytes: [UInt8], mode: mode_t) throws(SimulatorError) {
        let temporary = path + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure("cannot be created") }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                close(descriptor)
                throw failure("cannot be written")
            }
            written += count
        }
        guard close(descriptor) == 0, rename(temporary, path) == 0 else {
            throw failure("cannot be written")
        }
    }

    /// Locks the file for the life of this process. Throws if another process holds the lock.
    func lock() throws(SimulatorError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be created") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw SimulatorError(
                "another simulator uses this directory (\(path)); stop it, or name another --data")
        }
    }

    private func failure(_ what: String) -> SimulatorError {
        let reason = String(cString: strerror(errno))
        return SimulatorError("\(path) \(what): \(reason); check the path and its permissions")
    }
}
