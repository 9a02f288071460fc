#if Postgres
import CLinux
import Glibc
import TomboloEventLog

/// Reads the password from its file.
enum PostgresPassword {
    /// PostgreSQL's server reads no longer password message (`PG_MAX_AUTH_TOKEN_LENGTH`, 65,535
    /// bytes). Tokens of managed services have 1,000 to 2,500 bytes.
    static let bytesMax = 65_536

    /// The bytes of the file that `password_file` names, up to the first line end; nil if no file
    /// is named. They go to libpq as they are: a password need not be UTF-8.
    static func read(_ database: PostgresDatabase) throws(EventLogError) -> [UInt8]? {
        guard let path = database.passwordFile else { return nil }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, let bytes = content(descriptor) else {
            throw refused(
                path, String(cString: strerror(errno)), "let the user who runs the relay read it")
        }
        // libpq keeps the password in memory, so core dumps must not contain the memory.
        tombolo_keep_memory_out_of_dumps()
        let line = bytes.prefix { $0 != 10 && $0 != 13 }
        guard line.count <= bytesMax else {
            throw refused(
                path, "its first line has more than \(bytesMax) bytes",
                "put only the password into it")
        }
        guard !line.contains(0) else {
            throw refused(
                path, "it contains a NUL byte", "write the password into it as text, in one line")
        }
        return Array(line)
    }

    /// Reads until the first line must have ended, or is too long; nil if the file cannot be read.
    private static func content(_ descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while bytes.count <= bytesMax {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return bytes
    }

    private static func refused(_ path: String, _ cause: String, _ hint: String) -> EventLogError {
        .unusable(cause: "the password file \(path): \(cause)", hint: hint)
    }
}
#endif
