/// The rooms and their arrows as they were decided. A new arrow is a change of this table and of
/// `Package.swift` in the same commit, which says why.
enum Rooms {
    /// What each room of `Sources` may import.
    static let arrows: [String: Set<String>] = [
        "CNghttp2": [], "COpenSSL": [], "CSQLite": [], "CPNG": [], "CZlib": [], "CLinux": [],
        "CPostgreSQL": [],
        "CProtocolAssets": [], "CConsoleAssets": [],
        "TomboloJSON": [],
        "TomboloCore": ["TomboloJSON"],
        "TomboloAPI": ["TomboloCore", "TomboloJSON", "CProtocolAssets"],
        "TomboloContract": ["TomboloJSON"],
        "TomboloWidgets": ["TomboloContract"],
        "TomboloKit": ["TomboloContract", "TomboloWidgets"],
        "TomboloLoop": ["CLinux"],
        "Yardsticks": ["CSQLite", "COpenSSL"],
        "TomboloEventLog": ["TomboloCore"],
        "TomboloLog": ["TomboloEventLog", "TomboloCore", "CLinux"],
        "TomboloSQLite": ["TomboloLog", "TomboloEventLog", "TomboloCore", "CSQLite", "CLinux"],
        "TomboloPostgres": [
            "TomboloLog", "TomboloEventLog", "TomboloCore", "CPostgreSQL", "CLinux",
        ],
        "TomboloRelay": ["TomboloCore", "TomboloEventLog", "TomboloLoop", "TomboloJSON"],
        "TomboloCrypto": ["COpenSSL"],
        "TomboloHTTP": ["TomboloLoop", "CLinux", "CNghttp2", "COpenSSL", "CZlib"],
        "TomboloAPNs": [
            "TomboloCore", "TomboloHTTP", "TomboloLoop", "TomboloCrypto", "TomboloJSON", "CLinux",
        ],
        "TomboloSimulator": [
            "TomboloContract", "TomboloHTTP", "TomboloLoop", "TomboloCrypto", "TomboloJSON",
        ],
        "TomboloServer": [
            "TomboloRelay", "TomboloEventLog", "TomboloCore", "TomboloAPI", "TomboloHTTP",
            "TomboloLoop", "TomboloCrypto", "TomboloJSON", "CProtocolAssets", "CConsoleAssets",
        ],
        "TomboloProgram": [
            "TomboloJSON", "TomboloCore", "TomboloAPI", "TomboloLoop", "TomboloEventLog",
            "TomboloLog", "TomboloSQLite", "TomboloPostgres", "TomboloRelay", "TomboloCrypto",
            "TomboloHTTP", "TomboloAPNs", "TomboloSimulator", "TomboloServer", "CLinux", "CPNG",
            "CProtocolAssets",
        ],
        "tombolo": ["TomboloProgram"],
        // Tools of the tests.
        "CEscapeWatch": [],
        "Simulation": [
            "TestSupport", "TomboloCore", "TomboloEventLog", "TomboloLoop", "TomboloRelay",
            "TomboloLog", "TomboloSQLite", "TomboloJSON", "TomboloHTTP", "TomboloAPNs",
            "TomboloCrypto",
        ],
        "simulate": ["Simulation", "TomboloJSON"],
        "CoreRig": ["TomboloCore", "TomboloJSON"],
        "histories": ["CoreRig", "TomboloCore"],
        "tombolo-bench": [
            "TomboloProgram", "TomboloJSON", "TomboloCore", "TomboloAPI", "TomboloLoop",
            "TomboloEventLog", "TomboloLog", "TomboloSQLite", "TomboloPostgres", "TomboloRelay",
            "TomboloCrypto", "TomboloAPNs", "CLinux",
        ],
    ]

    /// Rooms without I/O, clock and `async`. They import each other and nothing else, not even
    /// Glibc.
    static let pure: Set<String> = [
        "TomboloJSON", "TomboloCore", "TomboloAPI", "TomboloContract",
    ]

    /// Where a room may be imported, if not everywhere in the rooms that have its arrow.
    static let folders: [String: (folder: String, reason: String)] = [
        "TomboloContract": (
            "Sources/TomboloSimulator/Relay/",
            "the phone that judges what is shown must not share a mistake with the app on it"
        )
    ]

    /// Rooms with a `public` face, because code outside of this package imports them.
    static let outward: [String: String] = [
        "TomboloContract": "apps import it by Swift Package Manager, and `package` ends there"
    ]

    /// Folders whose Swift runs on phones only. On Linux the two rooms are empty, and
    /// `Tests/AppleStubs/kit` compiles them for the real target.
    static let ofPhones = ["Sources/TomboloKit/", "Sources/TomboloWidgets/", "Tests/AppleStubs/"]

    /// C targets carry no Swift settings.
    static let inC: Set<String> = [
        "CNghttp2", "COpenSSL", "CSQLite", "CPNG", "CPostgreSQL", "CZlib", "CLinux",
        "CProtocolAssets",
        "CConsoleAssets",
        "Yardsticks",
        "CEscapeWatch",
    ]

    /// What a room must not reach, by however many arrows.
    static let walls: [(room: String, forbidden: Set<String>, reason: String)] = [
        (
            "TomboloCore", networkAndDisk.union(["CLinux"]),
            "the core is a state machine: what it decides is carried out elsewhere"
        ),
        (
            "TomboloRelay", networkAndDisk.union(["TomboloHTTP", "TomboloAPNs", "TomboloSQLite"]),
            "the shell runs in simulation, on a virtual loop, with no network and no disk"
        ),
        (
            "TomboloLog", ["CSQLite", "TomboloSQLite", "CPostgreSQL", "TomboloPostgres"],
            "the log is above its engine: it knows tables of rows, and no SQL"
        ),
        (
            "TestSupport", ["CNghttp2", "COpenSSL", "TomboloHTTP", "TomboloAPNs"],
            "the simulation of the relay is built from it and links no network library"
        ),
        (
            "TomboloSimulator", ["TomboloCore", "TomboloAPNs", "TomboloAPI", "TomboloRelay"],
            "it reads Apple's specification by itself, so that both cannot be wrong together"
        ),
        (
            "TomboloContract", ["CLinux", "TomboloCore", "TomboloLoop"],
            "an app takes all that it reaches along to a phone"
        ),
        (
            "TomboloHTTP", ["TomboloCore", "TomboloJSON", "TomboloAPI"],
            "it moves bytes and knows nothing of activities"
        ),
    ]

    private static let networkAndDisk: Set<String> = ["CNghttp2", "COpenSSL", "CSQLite"]
}
