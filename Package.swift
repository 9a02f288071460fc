// swift-tools-version: 6.2
import PackageDescription

// The rooms and their arrows. `RepositoryTests` reads this file: an import that is not an arrow
// here does not pass.

// An app's Xcode sees the libraries for apps only: they need no library of the system. A test asks
// for the same with TOMBOLO_KIT_ONLY=1.
#if os(Linux)
let isKitOnly = Context.environment["TOMBOLO_KIT_ONLY"] == "1"
#else
let isKitOnly = true
#endif

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    // Xcode compiles a package that an app uses without warnings, and refuses both at once.
    isKitOnly ? .treatAllWarnings(as: .warning) : .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A library of this package: its sources, and the rooms it may look into.
func room(
    _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

let privacy = "PrivacyInfo.xcprivacy"

// Without ActivityKit the two libraries of the kit are empty: `Tests/AppleStubs/kit` checks them.
let kit: [Target] = [
    room("TomboloJSON"),
    room("TomboloContract", ["TomboloJSON"]),
    .target(
        name: "TomboloWidgets", dependencies: ["TomboloContract"],
        // What the kit collects, for an app that is submitted to Apple.
        exclude: isKitOnly ? [] : [privacy], resources: isKitOnly ? [.copy(privacy)] : [],
        swiftSettings: settings),
    room("TomboloKit", ["TomboloContract", "TomboloWidgets"]),
]
let kitProducts: [Product] = [
    // What a phone says to the relay, and when; and an app and a widget extension that do so.
    .library(name: "TomboloContract", targets: ["TomboloContract"]),
    .library(name: "TomboloKit", targets: ["TomboloKit"]),
    .library(name: "TomboloWidgets", targets: ["TomboloWidgets"]),
]

let package = Package(
    name: "tombolo",
    platforms: [.iOS("16.2")],
    products: kitProducts
        + (isKitOnly ? [] : [.executable(name: "tombolo", targets: ["tombolo"])]),
    // What not everybody needs, with the library that it costs: `swift build --traits Postgres`.
    traits: [
        .trait(name: "ClipPack", description: "PNG files: `clip pack`, and pictures in a terminal"),
        .trait(name: "Postgres", description: "PostgreSQL as the log's engine"),
        .default(enabledTraits: ["ClipPack", "Postgres"]),
    ],
    targets: kit + (isKitOnly ? [] : relay()))

func relay() -> [Target] {
    [
        // System libraries: a module map, and a shim for macros and variadics.
        .systemLibrary(
            name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(
            name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(name: "CLinux"),
        .target(name: "CProtocolAssets"),
        .target(name: "CConsoleAssets", exclude: ["console"]),

        // Pure: no I/O, no clock, no `async`.
        room("TomboloCore", ["TomboloJSON"], exclude: ["README.md"]),
        room("TomboloAPI", ["TomboloCore", "TomboloJSON", "CProtocolAssets"]),

        // Time and waiting; the log; the shell.
        room("TomboloLoop", ["CLinux"]),
        room("TomboloEventLog", ["TomboloCore"]),
        room("TomboloLog", ["TomboloEventLog", "TomboloCore", "CLinux"]),
        room(
            "TomboloSQLite", ["TomboloLog", "TomboloEventLog", "TomboloCore", "CSQLite", "CLinux"]),
        room(
            "TomboloPostgres",
            [
                "TomboloLog", "TomboloEventLog", "TomboloCore", "CLinux",
                .target(name: "CPostgreSQL", condition: .when(traits: ["Postgres"])),
            ]),
        room("TomboloRelay", ["TomboloCore", "TomboloEventLog", "TomboloLoop", "TomboloJSON"]),

        // Bytes, and those who speak over them.
        room("TomboloCrypto", ["COpenSSL"]),
        room("TomboloHTTP", ["TomboloLoop", "CLinux", "CNghttp2", "COpenSSL", "CZlib"]),
        room(
            "TomboloAPNs",
            [
                "TomboloCore", "TomboloHTTP", "TomboloLoop", "TomboloCrypto", "TomboloJSON",
                "CLinux",
            ]),
        room(
            "TomboloSimulator",
            ["TomboloContract", "TomboloHTTP", "TomboloLoop", "TomboloCrypto", "TomboloJSON"]),
        room(
            "TomboloServer",
            [
                "TomboloRelay", "TomboloEventLog", "TomboloCore", "TomboloAPI", "TomboloHTTP",
                "TomboloLoop",
                "TomboloCrypto", "TomboloJSON", "CProtocolAssets", "CConsoleAssets",
            ]),

        // The commands, and the program that has them.
        room(
            "TomboloProgram",
            [
                "TomboloJSON", "TomboloCore", "TomboloAPI", "TomboloLoop", "TomboloEventLog",
                "TomboloLog", "TomboloSQLite", "TomboloPostgres",
                "TomboloRelay", "TomboloCrypto", "TomboloHTTP", "TomboloAPNs", "TomboloSimulator",
                "TomboloServer",
                "CLinux", "CProtocolAssets",
                .target(name: "CPNG", condition: .when(traits: ["ClipPack"])),
            ]),
        .executableTarget(
            name: "tombolo", dependencies: ["TomboloProgram"], swiftSettings: settings),

        // What measures a relay, the log and the core: no package has it.
        .executableTarget(
            name: "tombolo-bench",
            dependencies: [
                "TomboloProgram", "TomboloJSON", "TomboloCore", "TomboloAPI", "TomboloLoop",
                "TomboloEventLog", "TomboloLog", "TomboloSQLite", "TomboloPostgres",
                "TomboloRelay", "TomboloCrypto", "TomboloAPNs", "CLinux",
            ],
            path: "Tests/tombolo-bench", swiftSettings: settings),
        // What the benches are compared with: plain C.
        .executableTarget(
            name: "Yardsticks", dependencies: ["CSQLite", "COpenSSL"], path: "Tests/Yardsticks",
            exclude: ["allocations", "compare-append", "postgres"]),
        .target(
            name: "TestSupport",
            dependencies: [
                "TomboloLoop", "TomboloEventLog", "TomboloLog", "TomboloCore", "TomboloJSON",
                "CLinux", "CSQLite",
                "CEscapeWatch",
            ],
            path: "Tests/TestSupport", swiftSettings: settings),

        // The whole relay on virtual time: a library for the tests, a program for many seeds.
        .target(name: "CEscapeWatch", path: "Tests/CEscapeWatch"),
        .target(
            name: "Simulation",
            dependencies: [
                "TomboloCore", "TomboloRelay", "TomboloEventLog", "TomboloLog", "TomboloSQLite",
                "TomboloLoop",
                "TomboloJSON", "TomboloHTTP", "TomboloAPNs", "TomboloCrypto", "TestSupport",
            ],
            path: "Tests/Simulation", exclude: ["KNOWN.md"], swiftSettings: settings),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation", "TomboloJSON"], path: "Tests/simulate",
            swiftSettings: settings),
        tests(
            "SimulationTests",
            ["Simulation", "TomboloLoop", "TomboloCore", "TestSupport"]),
        tests("TomboloJSONTests", ["TomboloJSON"], exclude: ["Fuzzed/Corpus"]),
        tests("TomboloContractTests", ["TomboloContract", "TomboloJSON"]),
        // The core on virtual time: marbles for the tests, a program for many random histories.
        .target(
            name: "CoreRig", dependencies: ["TomboloCore", "TomboloJSON"], path: "Tests/CoreRig",
            swiftSettings: settings),
        .executableTarget(
            name: "histories", dependencies: ["CoreRig", "TomboloCore"], path: "Tests/histories",
            swiftSettings: settings),
        tests("TomboloCoreTests", ["TomboloCore", "TomboloJSON", "TestSupport", "CoreRig"]),
        tests("TomboloAPITests", ["TomboloAPI", "TomboloCore", "TomboloJSON", "TestSupport"]),
        tests("TomboloLoopTests", ["TomboloLoop", "TestSupport"]),
        tests("TomboloEventLogTests", ["TomboloEventLog", "TomboloCore", "TestSupport"]),
        // The log over each engine.
        tests(
            "TomboloLogTests",
            [
                "TomboloLog", "TomboloSQLite", "TomboloPostgres", "TomboloEventLog", "TomboloCore",
                "TomboloJSON", "TomboloLoop", "TestSupport", "CLinux",
            ]),
        tests(
            "TomboloSQLiteTests",
            [
                "TomboloSQLite", "TomboloLog", "TomboloEventLog", "TomboloCore", "TestSupport",
                "CSQLite", "CLinux",
            ]),
        tests(
            "TomboloRelayTests",
            [
                "TomboloRelay", "TomboloCore", "TomboloEventLog", "TomboloLoop", "TomboloJSON",
                "TestSupport",
            ]),
        tests("TomboloCryptoTests", ["TomboloCrypto", "TestSupport"]),
        tests(
            "TomboloHTTPTests", ["TomboloHTTP", "TomboloLoop", "TestSupport", "CNghttp2"],
            exclude: ["Fuzzed/Corpus"]),
        tests(
            "TomboloAPNsTests",
            [
                "TomboloAPNs", "TomboloCore", "TomboloHTTP", "TomboloLoop", "TomboloCrypto",
                "TomboloJSON", "TestSupport",
            ]),
        tests(
            "TomboloSimulatorTests",
            [
                "TomboloSimulator", "TomboloContract", "TomboloHTTP", "TomboloLoop",
                "TomboloCrypto", "TomboloJSON", "TestSupport",
            ]),
        tests(
            "TomboloServerTests",
            [
                "TomboloServer", "TomboloRelay", "TomboloEventLog", "TomboloCore", "TomboloAPI",
                "TomboloHTTP",
                "TomboloLoop", "TomboloCrypto", "TomboloJSON", "TestSupport", "CProtocolAssets",
            ]),
        tests("RepositoryTests", ["TestSupport"]),
        // What the faces of the rooms show, compiled.
        tests(
            "FaceTests",
            [
                "TomboloJSON", "TomboloCore", "TomboloAPI", "TomboloLoop", "TomboloEventLog",
                "TomboloLog", "TomboloSQLite", "TomboloPostgres", "TomboloRelay", "TomboloCrypto",
                "TomboloHTTP", "TomboloAPNs", "TomboloSimulator", "TomboloServer",
                "TomboloContract",
            ]),
        tests(
            "EndToEndTests",
            [
                "TestSupport", "TomboloJSON", "TomboloCrypto", "TomboloCore", "TomboloAPI",
                "TomboloSimulator", "TomboloAPNs", "TomboloRelay", "TomboloServer",
                "TomboloProgram",
                "tombolo", "tombolo-bench", "CoreRig",
            ],
            exclude: [
                "authors.py", "ten_kills.py", "copy_back.py", "httpx_client.py",
                "foreign_clients.py",
                "generated_client.py",
                "fault_run.py",
                "backend.py", "verdicts.py", "batch_through_nginx.py", "doors", "console.py",
                "console_bench.py", "load_bench.py", "mistakes.py", "proxies.py", "pictures.py",
                "scenarios.py", "world.py",
                "watched_day.py",
                "alerts_test.yml", "package_life.py",
                "cloud_events.py", "codegen.py", "postgres.py", "postgres_standby.py",
                "two_relays.py",
            ]),
    ]
}
