import TomboloCore
import TomboloJSON
package import TomboloPostgres
import TomboloServer

extension Configuration {
    /// A PostgreSQL server that keeps the log. It replaces the data directory.
    package struct Database: Hashable, Sendable {
        /// libpq's connection parameters. Their names are listed in `PostgresDatabase.keywords`.
        var words: [String: String] = [:]
        var passwordFile: String?
        /// The file with the secret of the API keys.
        var pepperFile = ""
        var schema = "tombolo"
        var pooler: String?
        var durability = PostgresDatabase.Durability.local.rawValue
        var lease = Span.seconds(5)
        /// True if it comes from a command line, which is meant for experiments.
        var isForTrying = false

        init() {}

        /// Reads the URL of `--database`.
        package init(url: String) throws(ProgramError) {
            do {
                words = try PostgresDatabase(url: url).words
            } catch {
                throw ProgramError(error)
            }
            isForTrying = true
        }

        package var postgres: PostgresDatabase {
            var database = PostgresDatabase()
            database.words = words
            database.passwordFile = passwordFile
            database.schema = schema
            database.isPooled = pooler != nil
            database.durability = .init(rawValue: durability) ?? .local
            database.leaseMilliseconds = lease.nanoseconds / 1_000_000
            database.takesUnsafeServer = isForTrying
            return database
        }
    }
}

extension Configuration.Database {
    /// The keys of `database`, except `postgres`.
    static let settings: [Setting<Self>] = [
        Setting(
            "password_file", .fileIfAny(\.passwordFile),
            "the file with the password, which is read at each connection"),
        Setting(
            "pepper_file", .file(\.pepperFile), isRequired: true,
            "the file with the secret of the API keys: log create makes it, each relay has the same"
        ),
        Setting("schema", .text(\.schema), "the schema that has the log's tables"),
        Setting(
            "pooler", .choiceIfAny(\.pooler, ["session"]),
            "a pooler before the server, which gives each connection a session of its own"),
        Setting(
            "durability",
            .choice(\.durability, PostgresDatabase.Durability.allCases.map(\.rawValue)),
            "where a commit is before it is acknowledged: on the server's disk, or a standby's too"),
        Setting(
            "lease", .duration(\.lease, .seconds(3) ... .seconds(60)),
            "how long the log's owner shows no sign of life before another relay takes the log"),
    ]

    /// The keys of `database.postgres`.
    static let wordSettings: [Setting<Self>] = PostgresDatabase.keywords.map { word in
        let path: Setting<Self>.Path<String?> = \.words[word]
        let isFile = ["passfile", "sslcert", "sslkey"].contains(word)
        return Setting(
            word, isFile ? .fileIfAny(path) : .word(path),
            "libpq's `\(word)`" + (word == "sslmode" ? "; `verify-full` but near by" : ""))
    }

    /// Reads the member `database` of the reader's object.
    static func read(_ reader: inout FieldReader, _ directory: String) -> Self? {
        guard let view = reader.object("database") else { return nil }
        var database = Self()
        var inner = reader.inside(view, "database")
        inner.read(settings, into: &database, directory: directory)
        if let objection = PostgresDatabase.objection(toSchema: database.schema) {
            inner.fail("schema", objection)
        }
        if let view = inner.object("postgres") {
            var words = inner.inside(view, "postgres")
            for (name, _) in view.members {
                guard let objection = PostgresDatabase.objection(to: name) else { continue }
                _ = words.value(name)
                words.fail(name, objection)
            }
            words.read(wordSettings, into: &database, directory: directory)
            if let name = database.words["dbname"], name.contains("=") || name.contains("://") {
                words.fail("dbname", "must be a name: what a URL says goes into the other words")
            }
            do { try words.finish() } catch { inner.adopt(error) }
        } else if inner.value("postgres") == nil {
            inner.fail("postgres", "is missing: libpq's words, such as {\"host\": \"db\"}")
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        return database
    }

    /// Tries the database, as a relay would use it.
    func examine() -> [DoctorCommand.Finding] {
        // The fault of a pepper that cannot be read is among `findings()`.
        PostgresEventLog.examine(postgres, pepper: try? pepper().check).map { .init($0) }
    }

    /// Faults of the files and parameters with which a relay cannot start.
    func findings() -> [ConfigurationFinding] {
        guard PostgresEventLog.isThere else {
            return [
                ConfigurationFinding(
                    pointer: "/database", cause: "this tombolo is built without PostgreSQL",
                    remedy: "swift build -c release, without --disable-default-traits")
            ]
        }
        var findings: [ConfigurationFinding] = []
        _ = CheckedApp.secret(pepperFile, "/database/pepper_file", &findings)
        if let passwordFile {
            _ = CheckedApp.secret(passwordFile, "/database/password_file", &findings)
        }
        return findings
    }
}
