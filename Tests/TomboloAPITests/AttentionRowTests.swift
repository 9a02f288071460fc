import TestSupport
import Testing
import TomboloAPI
import TomboloJSON

@testable import TomboloCore

/// `Protocol/pages.json` says of each attention code what it means and what to do.
@Suite struct AttentionRowTests {
    /// An item with all names.
    private func item(_ code: AttentionCode, since: Instant? = nil) -> OverviewAnswer.Attention {
        var item = OverviewAnswer.Attention(
            code, "Why.", since: since, activity: Identifier("cat-7"),
            device: Identifier("phone-1"), commands: ["tombolo doctor"])
        (item.app, item.environment, item.pause) = ("com.example.app", "sandbox", "pause_1")
        return item
    }

    private func rules() throws -> String {
        String(decoding: try ProtocolFiles.bytes("../deploy/prometheus/alerts.yml"), as: UTF8.self)
    }

    @Test func `every code has exactly one row, and the file has no other`() throws {
        #expect(AttentionRow.rows.map(\.code) == AttentionCode.allCases)
        let names = try #require(try ProtocolFiles.json("pages.json")["attention"]?.members)
        #expect(names.map { name, _ in name } == AttentionCode.allCases.map(\.rawValue))
        #expect(Set(AttentionRow.rows.map(\.title)).count == AttentionCode.allCases.count)
        for trouble in Overview.Trouble.allCases {
            #expect(AttentionCode(trouble).rawValue == trouble.rawValue)
        }
    }

    @Test(arguments: AttentionCode.allCases)
    func `a row is whole, and its placeholders have values`(code: AttentionCode) {
        let row = AttentionRow.row(code)
        for text in [row.title, row.command, row.runbook] { #expect(!text.isEmpty) }
        #expect(row.title.hasSuffix(".") && row.runbook.hasSuffix("."))
        #expect(row.look.hasPrefix("#/") || row.look.hasPrefix("/"))
        let item = item(code)
        for text in [row.title, row.look, row.command] {
            #expect(item.filled(text)?.contains("{") == false, "\(text)")
        }
        if let action = row.action { #expect(item.filled(action.path)?.hasPrefix("/v1/") == true) }
    }

    @Test func `a row whose code is a reason has the reason's sentence`() {
        let reasons = Set(WaitReason.allCases.map(\.name))
        let codes = AttentionCode.allCases.filter { reasons.contains($0.rawValue) }
        #expect(codes == [.upstreamClosed, .startUnknown, .paused])
        #expect(
            AttentionRow.row(.paused).title
                == "An operator has paused these pushes. After `resume` the newest state goes.")
    }

    @Test func `a text is left out if a name that it needs is unknown`() {
        let values: [String: String?] = ["app": "a", "pause": nil]
        #expect(AttentionRow.filled("retry {app}", values) == "retry a")
        #expect(AttentionRow.filled("resume {pause}", values) == nil)
        #expect(AttentionRow.filled("doctor", values) == "doctor")
    }

    @Test func `the command is the row's if it is one of those to try, else the first`() {
        var item = item(.paused)
        #expect(item.command == "tombolo doctor")
        item.commands.append("tombolo resume pause_1")
        #expect(item.command == "tombolo resume pause_1")
        item.commands = []
        #expect(item.command == nil)
    }

    @Test func `each alert has one part, and each part's alert exists`() throws {
        func values(_ name: String) throws -> [String] {
            try rules().split(separator: "\n").compactMap { line in
                let parts = line.split(separator: ": ", maxSplits: 1)
                let isOne = parts.first?.hasSuffix(name) == true && parts.count == 2
                return isOne ? String(parts[1].filter { $0 != "\"" }) : nil
            }
        }
        let names = try values("- alert")
        #expect(names.count == 22)
        #expect(Runbook.alerts.sorted() == names.sorted())
        let urls = try values("runbook_url")
        #expect(urls == names.map(Runbook.path(alert:)))
        for name in names { #expect(Runbook.text(about: name)?.contains("alert \(name)") == true) }
        for row in AlertRow.rows {
            for text in [row.title, row.command, row.runbook] { #expect(!text.isEmpty) }
        }
    }

    @Test func `each code has a page, except where a problem has its name`() {
        for code in AttentionCode.allCases {
            let page = Runbook.text(about: code.rawValue)
            #expect(page?.contains("attention code \(code.rawValue)") == true)
            #expect((ProblemCode(rawValue: code.rawValue) != nil) == (code == .waiting))
            #expect(Lint.Code(rawValue: code.rawValue) == nil)
            #expect(SuspectPage.page(code.rawValue) == nil)
        }
        #expect(Runbook.text(about: "none") == nil)
    }

    @Test func `an item says title, severity, beginning, link, action and command`() throws {
        let writer = OverviewAnswer(
            tenant: Samples.tenant, keyID: "k", scopes: [], at: Samples.moment, hasPhones: false,
            counters: CoreCounters(), lastSeq: 0, countedAt: Samples.moment,
            overview: Overview(),
            attention: [item(.paused, since: Samples.moment), item(.silent)])
        var bytes = JSONWriter()
        writer.write(to: &bytes)
        let items = try JSONDocument(bytes.bytes).root["attention"]?.elements.map { $0 } ?? []
        try #require(items.count == 2)
        #expect(items[0]["title"]?.string == AttentionRow.row(.paused).title)
        #expect(items[0]["severe"]?.bool == false)
        #expect(items[0]["since"]?.string == Samples.moment.rfc3339)
        #expect(items[0]["look"]?.string == "#/pacing")
        #expect(items[0]["action"]?["method"]?.string == "DELETE")
        #expect(items[0]["action"]?["path"]?.string == "/v1/pauses/pause_1")
        #expect(items[0]["command"]?.string == "tombolo doctor")
        #expect(items[1]["since"] == nil && items[1]["action"] == nil)
        #expect(items[1]["look"]?.string == "#/devices/phone-1")
    }
}
