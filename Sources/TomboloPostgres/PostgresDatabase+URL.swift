package import TomboloEventLog

#if Postgres
import CPostgreSQL
#endif

extension PostgresDatabase {
    /// Parses a URL of libpq: `postgres://USER@HOST:PORT/DATABASE?sslmode=…`. A URL with a password
    /// is refused, because other users of the machine can see it.
    package init(url: String) throws(EventLogError) {
        self.init()
        #if Postgres
        var fault: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &fault) else {
            defer { PQfreemem(fault) }
            // libpq's message may contain the URL with a password.
            throw Self.refused("it is no URL of PostgreSQL's")
        }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            defer { option += 1 }
            guard let value = option.pointee.val else { continue }
            let word = String(cString: keyword)
            if let objection = Self.objection(to: word) { throw Self.refused(objection) }
            words[word] = String(cString: value)
        }
        #else
        throw PostgresEventLog.absent
        #endif
    }

    private static func refused(_ cause: String) -> EventLogError {
        .unusable(
            cause: "--database: \(cause)",
            hint: "--database postgres://USER@HOST:PORT/DATABASE; a password belongs into a file "
                + "that \"passfile\" or, in a --config file, \"password_file\" names")
    }
}
