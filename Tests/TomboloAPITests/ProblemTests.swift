import TestSupport
import Testing
import TomboloAPI
import TomboloCore
import TomboloJSON

@Suite struct ProblemTests {
    @Test func `every problem has a page of its own`() {
        #expect(ProblemPage.pages.map(\.code) == ProblemCode.allCases)
        for page in ProblemPage.pages {
            #expect((400...599).contains(page.status))
            #expect(!page.cause.isEmpty && !page.fix.isEmpty && !page.command.isEmpty)
            #expect(page.path == "/problems/\(page.code.rawValue)")
        }
        #expect(Set(ProblemPage.pages.map(\.title)).count == ProblemCode.allCases.count)
    }

    @Test func `the schema of a problem lists each code, and no other`() throws {
        let code = try ProtocolFiles.json("schemas/problem.json")["properties"]?["code"]
        let list = try #require(code?["anyOf"]?.elements.first { _ in true }?["enum"])
        #expect(list.elements.compactMap(\.string) == ProblemCode.allCases.map(\.rawValue))
    }

    @Test func `every lint has a page of its own, and none is called like a problem`() {
        #expect(LintPage.pages.map(\.code) == Lint.Code.allCases)
        for page in LintPage.pages {
            #expect(!page.effect.isEmpty && !page.fix.isEmpty && !page.command.isEmpty)
            #expect(ProblemCode(rawValue: page.code.rawValue) == nil)
        }
        #expect(Set(LintPage.pages.map(\.title)).count == Lint.Code.allCases.count)
    }

    @Test func `what only a phone can know has a page of its own`() {
        for page in SuspectPage.pages {
            #expect(ProblemCode(rawValue: page.slug) == nil)
            #expect(Lint.Code(rawValue: page.slug) == nil)
            #expect(SuspectPage.page(page.slug) == page)
            #expect(page.text.contains("suspect \(page.code)"))
        }
        #expect(SuspectPage.page("no-such-suspect") == nil)
    }

    @Test(arguments: Refusal.Code.allCases)
    func `every refusal of the core is a problem of the same name`(code: Refusal.Code) {
        let problem = Problem(Refusal(code, "why", version: 7, bytesOver: 904))
        #expect(problem.code.rawValue == code.rawValue)
        #expect(problem.detail == "why")
        #expect(problem.extensions.map(\.name) == ["version", "bytes_over"])
    }

    @Test func `JSON that is none is told with its place`() {
        let error = #expect(throws: JSONError.self) {
            try JSONDocument(Array("{\n  \"a\": nul}".utf8))
        }
        let problem = error.map { Problem($0) }
        #expect(problem?.code == .invalidJSON)
        #expect(problem?.detail.hasPrefix("Line 2, column ") == true)
        #expect(problem?.extensions.map(\.name) == ["line", "column"])
    }

    @Test func `the first fault is the detail, and the others are counted`() {
        let faults = FieldErrors([
            FieldError(pointer: "/stat", message: "unknown field; did you mean \"state\"?"),
            FieldError(pointer: "/type", message: "is missing"),
        ])
        let problem = Problem(faults)
        #expect(
            problem.detail
                == "/stat: unknown field; did you mean \"state\"? 1 more in errors[].")
        #expect(problem.errors.count == 2)
        #expect(
            Problem(FieldErrors([FieldError(pointer: "/type", message: "is missing")])).detail
                == "/type is missing.")
    }

    @Test func `a member that is added twice is there once`() {
        let problem = Problem(.invalidJSON, "why").adding("line", 1).adding("line", 3)
        #expect(problem.extensions.map(\.name) == ["line"])
        #expect(problem.extensions.first?.value.description == "3")
    }
}
