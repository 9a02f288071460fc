import Testing

/// The rooms and who may look into which.
@Suite struct ArrowTests {
    private let tree: SourceTree
    private let manifest: Manifest

    init() throws {
        tree = try SourceTree.here.get()
        manifest = Manifest(text: try #require(tree.text("Package.swift")))
    }

    @Test func `the arrows of the manifest are those of the table`() {
        let rooms = manifest.targets.filter { target in
            !target.name.hasSuffix("Tests") && target.name != "TestSupport"
        }
        #expect(Set(rooms.map(\.name)) == Set(Rooms.arrows.keys))
        for room in rooms {
            #expect(room.dependencies == Rooms.arrows[room.name], "the arrows of \(room.name)")
        }
    }

    @Test func `the page of the rooms lists their arrows`() throws {
        let page = try #require(tree.text("Sources/README.md"))
        let rows = page.split(separator: "\n").map { $0.split(separator: "|") }
        for (room, arrows) in Rooms.arrows where !arrows.isEmpty {
            guard tree.sources.contains(where: { $0.target == room }) else { continue }
            let row = rows.first { $0.first == " `\(room)` " }
            let named = (row?.last ?? "").split { $0 == "," || $0 == " " }
                .map { Rooms.arrows["Tombolo\($0)"] == nil ? String($0) : "Tombolo\($0)" }
            #expect(Set(named) == arrows, "the row of \(room) in Sources/README.md")
        }
    }

    @Test func `every folder of Sources and Tests is a target`() throws {
        for folder in ["Sources", "Tests"] {
            for entry in try Directory.entries(tree.root + "/" + folder)
            where entry.isDirectory && entry.name != "AppleStubs" {
                #expect(
                    manifest.targets.contains { $0.name == entry.name },
                    "\(folder)/\(entry.name) is no target of Package.swift: nobody compiles it")
            }
        }
    }

    @Test func `every import is an arrow`() {
        let violations = tree.swiftFiles.flatMap {
            ImportRule.violations(in: $0, manifest: manifest)
        }
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test func `no room reaches what its wall forbids`() {
        for wall in Rooms.walls {
            let reached = manifest.closure(of: wall.room).intersection(wall.forbidden)
            #expect(reached.isEmpty, "\(wall.room) reaches \(reached.sorted()): \(wall.reason)")
        }
    }

    @Test func `every Swift target is built with the settings of the house`() {
        for target in manifest.targets where !Rooms.inC.contains(target.name) {
            #expect(target.hasSettings, "\(target.name) has no `swiftSettings: settings`")
        }
    }

    @Test(arguments: [
        ".swiftLanguageMode(.v6)", ".treatAllWarnings(as: .error)", "\"ExistentialAny\"",
        "\"InternalImportsByDefault\"", "\"MemberImportVisibility\"",
        "\"NonisolatedNonsendingByDefault\"",
    ])
    func `the settings of the house hold`(setting: String) throws {
        let text = try #require(tree.text("Package.swift"))
        let start = try #require(text.ranges(of: "let settings").first)
        let end = try #require(text[start.upperBound...].ranges(of: "\n]").first)
        #expect(text[start.upperBound..<end.lowerBound].contains(setting))
    }
}

/// What the rules above would say of a house that does not keep them.
@Suite struct ArrowRuleTests {
    private let manifest = Manifest(
        text: """
            func room(_ name: String) -> Target { .target(name: name, swiftSettings: settings) }
            let package = Package(
                name: "house", products: [.executable(name: "house", targets: ["house"])],
                targets: [
                    .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
                    room("TomboloCore"), room("TomboloHTTP", ["COpenSSL"]),
                    room("TomboloContract"), room("TomboloSimulator", ["TomboloContract"]),
                    // room("Commented"),
                    room(
                        "TomboloServer",
                        ["TomboloHTTP", .target(name: "Other", condition: .when(traits: ["T"]))]),
                    .executableTarget(name: "house", dependencies: ["TomboloServer"], path: "x"),
                ])
            """)

    private func messages(_ path: String, _ text: String) -> [String] {
        ImportRule.violations(in: SwiftFile(path: path, text: text), manifest: manifest).map(
            \.message)
    }

    @Test func `the manifest is read from its text`() {
        #expect(
            manifest.targets.map(\.name) == [
                "COpenSSL", "TomboloCore", "TomboloHTTP", "TomboloContract",
                "TomboloSimulator", "TomboloServer", "house",
            ])
        #expect(
            manifest.targets.map(\.dependencies) == [
                [], [], ["COpenSSL"], [], ["TomboloContract"], ["TomboloHTTP", "Other"],
                ["TomboloServer"],
            ])
        #expect(
            manifest.targets.map(\.hasSettings) == [false, true, true, true, true, true, false])
    }

    @Test func `arrows are followed as far as they go`() {
        #expect(
            manifest.closure(of: "house") == ["TomboloServer", "TomboloHTTP", "Other", "COpenSSL"])
        #expect(manifest.closure(of: "TomboloCore").isEmpty)
    }

    @Test(arguments: [
        "import TomboloServer", "package import TomboloServer", "@testable import TomboloServer",
        "import struct TomboloServer.Door", "import Foundation", "import Testing",
        "#if os(Linux)\nimport FoundationEssentials\n#endif",
    ])
    func `an import that is no arrow is found`(text: String) {
        #expect(messages("Sources/TomboloHTTP/A.swift", text).count == 1)
    }

    @Test(arguments: [
        "import COpenSSL", "import Glibc\nimport Synchronization", "// import Foundation",
        "let a = \"import B\"",
    ])
    func `an arrow and the system are no violation`(text: String) {
        #expect(messages("Sources/TomboloHTTP/A.swift", text).isEmpty)
    }

    @Test func `the contract is imported by the apps on the phones, not by the phones`() {
        let text = "import TomboloContract"
        #expect(messages("Sources/TomboloSimulator/Relay/A.swift", text).isEmpty)
        #expect(messages("Sources/TomboloSimulator/Phone/A.swift", text).count == 1)
        #expect(messages("Sources/TomboloSimulator/Shell/A.swift", text).count == 1)
        #expect(messages("Tests/TomboloSimulator/A.swift", text).isEmpty)
    }

    @Test func `a pure room imports no system`() {
        #expect(messages("Sources/TomboloCore/A.swift", "import Glibc").count == 1)
        #expect(messages("Tests/TomboloCoreTests/A.swift", "import Glibc\nimport Testing").isEmpty)
    }
}
