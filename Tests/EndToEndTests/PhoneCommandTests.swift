import Glibc
import Testing
import TomboloAPI
import TomboloJSON
import TomboloSimulator

@testable import TomboloProgram

/// The simulated phones by command line, as somebody uses them who has no iPhone: relay, simulator
/// and command line as three processes.
@Suite(.serialized) struct PhoneCommandTests {
    private let relay: RunningRelay

    init() throws { relay = try RunningRelay(dev: []) }

    private func json(_ words: String...) throws -> JSONView {
        let result = try relay.tombolo(words + ["-o", "json"])
        guard result.status == 0 else { throw TestFailure("\(words): \(result.errors)") }
        return try JSONDocument(Array(result.output.utf8)).root
    }

    private func start(_ id: String, on phone: String) throws {
        let result = try relay.tombolo(
            "start", id, "--type", "OrderAttributes", "--device", phone, "-s", "eta=5", "--wait",
            "10s",
            "-o", "json")
        #expect(result.status == 0, "\(result.errors)")
    }

    private func expect(_ words: String...) throws -> (
        status: Int32?, output: String, errors: String
    ) {
        let result = try relay.tombolo(["expect"] + words + ["-o", "json"])
        return (result.status, result.output, result.errors)
    }

    @Test func `a phone is touched from the command line, and the relay learns of it`() throws {
        let all = try #require(try json("phone", "ls")["phones"]).elements.map { $0 }
        #expect(all.map { $0["idiom"]?.string } == ["phone", "phone", "phone", "pad"])
        let phones = all.dropLast()
        #expect(phones.map { $0["class"]?.string } == ["lab", "frequent", "standard"])
        #expect(phones.map { $0["budget"]?["left"]?.integer } == [nil, 240, 15])
        for (deed, presence, state) in [
            ("front", "active", "active"), ("control-center", "covered", "covered"),
            ("back", "background", "background"),
        ] {
            #expect(try json("phone", deed, "phone-2")["presence"]?.string == presence)
            try relay.waitUntil {
                try json("device", "show", "phone-2")["presence"]?["state"]?.string == state
            }
        }
        let table = try relay.tombolo("phone", "lock", "phone-2", "-o", "table")
        #expect(
            table.output.hasPrefix("phone-2: app in the background, locked, online, budget left: "))
        let tried = try json("phone", "unlock", "phone-2", "--dry-run")
        #expect(tried["dry_run"]?.bool == true && tried["locked"]?.bool == true)
        #expect(try json("phone", "show", "phone-2")["locked"]?.bool == true)
        let unknown = try relay.tombolo("phone", "lock", "phone-9")
        #expect(
            unknown.status == 3 && unknown.errors.contains("there are: phone-1, phone-2, phone-3"))
        let locked = try relay.tombolo("phone", "front", "phone-2")
        #expect(locked.status == 1 && locked.errors.contains("phone-2 is locked"))
        let cardless = try relay.tombolo("phone", "swipe", "phone-2", "nothing")
        #expect(cardless.status == 3 && cardless.errors.contains("phone-2 has no card"))
    }

    @Test func `a backend's test waits until a phone has drawn what it said`() throws {
        try start("order-1", on: "phone-1")
        #expect(try expect("phone-1", "order-1", "-s", "eta=5", "--within", "20s").status == 0)
        _ = try relay.tombolo("update", "order-1", "-s", "eta=4", "-s", "step=baking")
        #expect(
            try expect("phone-1", "order-1", "-s", "step=baking", "--within", "20s").status == 0)
        let late = try expect("phone-1", "order-1", "-s", "eta=1", "--within", "100ms")
        #expect(late.status == 1)
        #expect(late.output.contains(#""shown":false,"state":{"eta":4,"step":"baking"}"#))
        #expect(late.errors.contains("try: tombolo why order-1 phone-1"))
        #expect(try relay.tombolo("phone", "swipe", "phone-1", "order-1").status == 0)
        #expect(try expect("phone-1", "order-1", "--gone", "--within", "20s").status == 0)
        #expect(try expect("phone-1", "order-1").status == 2)
    }

    @Test func `what a phone holds over budget comes when somebody touches it`() throws {
        _ = try json("phone", "front", "phone-3")
        _ = try json("phone", "back", "phone-3")
        let small = try relay.act("phone-3", #"{"do":"budget","unused":1,"standard":1}"#)
        #expect(small["budget"]?["per_hour"]?.integer == 1)
        try start("order-3", on: "phone-3")
        _ = try relay.tombolo("update", "order-3", "-s", "eta=3", "--urgency", "high")
        try relay.waitUntil {
            try json("phone", "show", "phone-3")["budget"]?["holds"]?.bool == true
        }
        let words = try relay.tombolo("phone", "show", "phone-3", "-o", "table")
        #expect(words.output.contains("holds a push over budget"), "\(words.output)")
        _ = try json("phone", "touch", "phone-3")
        #expect(try expect("phone-3", "order-3", "-s", "eta=3", "--within", "20s").status == 0)
    }

    @Test func `what goes wrong without a word can be switched on`() throws {
        try start("order-2", on: "phone-2")
        #expect(try expect("phone-2", "order-2", "-s", "eta=5", "--within", "20s").status == 0)
        let troubled = try json("phone", "trouble", "phone-2", "extension_frozen")
        #expect(troubled["trouble"]?.elements.compactMap(\.string) == ["extension_frozen"])
        _ = try relay.tombolo("update", "order-2", "-s", "eta=2", "--urgency", "high")
        try relay.waitUntil {
            let card = try json("phone", "show", "phone-2")["cards"]?.elements.first { _ in true }
            return card?["state"]?["eta"]?.integer == 2
        }
        let words = try relay.tombolo("phone", "show", "phone-2", "-o", "table")
        #expect(words.output.contains(#"shows {"eta":5}, has a newer state"#), "\(words.output)")
        let ended = try json("phone", "trouble", "phone-2", "extension_frozen", "off")
        #expect(ended["trouble"]?.count == 0)
    }

    @Test func `a phone that is installed again is known by its new tokens`() throws {
        /// The tokens come one after the other: the start needs its own.
        func startToken() throws -> String? {
            try json("device", "show", "phone-1")["tokens"]?.elements
                .first { $0["name"]?.string == "start:OrderAttributes" }?["token"]?.string
        }
        let before = try startToken()
        _ = try json("phone", "reinstall", "phone-1")
        try relay.waitUntil { try startToken() != before }
        try start("again", on: "phone-1")
        #expect(try expect("phone-1", "again", "-s", "eta=5", "--within", "20s").status == 0)
    }

    @Test func `a widget is there once for each thing that it is configured to`() throws {
        for config in [["--config", "door-7"], [], ["--config", "door-8"]] {
            let words = ["phone", "widget", "add", "phone-1", "door", "--family", "systemSmall"]
            #expect(try relay.tombolo(words + config).status == 0)
            let again = try relay.tombolo(words + config)
            #expect(again.status != 0)
            #expect(again.errors.contains("already"), "\(again.errors)")
        }
        for config in ["door-7", "door-8"] {
            _ = try relay.tombolo(["phone", "widget", "rm", "phone-1", "door", "--config", config])
        }
        let left = try json("phone", "widget", "ls", "phone-1")["widgets"]
        #expect(left?.elements.map { $0["config"]?.string } == [nil])
        let wrong = try relay.tombolo([
            "phone", "widget", "add", "phone-1", "door", "--family", "systemExtraLarge",
        ])
        #expect(wrong.errors.contains("pad-1"), "\(wrong.errors)")
        _ = try relay.tombolo(["phone", "widget", "rm", "phone-1", "door"])
    }

    private static let schema = "\(RunnerCatTests.examples)/../schemas/phone-action.json"

    @Test func `schema, relay, simulator and command line know the same deeds`() throws {
        let schema = try JSONDocument(
            FileBytes.read(Self.schema)
        ).root["properties"]?["do"]?["enum"]?.elements.compactMap(\.string)
        #expect(schema.map(Set.init) == Set(PhoneDeed.allCases.map(\.rawValue)))
        let kinds = try JSONDocument(
            FileBytes.read(Self.schema)
        ).root["properties"]?["kind"]?["enum"]?.elements.compactMap(\.string)
        #expect(kinds == PhoneTrouble.Kind.allCases.map(\.rawValue))
        for deed in PhoneDeed.allCases {
            let more =
                switch deed {
                case .trouble: #","kind":"low_power""#
                case .widgetAdd: #","widget":"w","family":"systemSmall""#
                case .widgetRemove, .widgetGallery: #","widget":"w""#
                default: ""
                }
            let body = #"{"do":"\#(deed.rawValue)","activity":"a"\#(more)}"#
            #expect(throws: Never.self) {
                try PhoneAction(reading: JSON(unchecked: Array(body.utf8)).document.root)
            }
        }
        let commands = Set(Subcommand.phoneDeeds.compactMap(\.path.last))
        // These two carry what a command line cannot well say; widgets have one row for all.
        let ofWidgets = WidgetCommands.Deed.allCases.compactMap { $0.phoneDeed?.rawValue }
        #expect(
            commands
                == Set(PhoneDeed.allCases.map(\.rawValue)).subtracting(
                    ["update", "budget"] + ofWidgets))
    }
}

extension RunningRelay {
    /// Does something to a phone that has no command.
    fileprivate func act(_ phone: String, _ body: String) throws -> JSONView {
        let answer = try Shell.run(
            "curl", "-s", "-X", "POST", "-H", "Authorization: Bearer \(key)", "-H",
            "Content-Type: application/json", "-d", body, "\(api)/v1/phones/\(phone)")
        return try json(answer.output)
    }

    /// Waits until something holds, for as long as a start takes on a busy machine.
    func waitUntil(_ holds: () throws -> Bool) throws {
        let end = time(nil) + Int(Self.startTime)
        while try !holds() {
            guard time(nil) < end else { throw TestFailure("it did not come in time") }
        }
    }
}
