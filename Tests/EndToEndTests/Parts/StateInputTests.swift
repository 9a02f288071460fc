import Testing
import TomboloJSON

@testable import TomboloProgram

@Suite struct StateInputTests {
    @Test(arguments: [
        ("1", "1"), ("1e3", "1e3"), ("true", "true"), ("null", "null"),
        ("{\"a\": 1}", "{\"a\": 1}"),
        ("\"1\"", "\"1\""), ("2/5", "\"2/5\""), ("007", "\"007\""), ("", "\"\""),
        ("a\"b", "\"a\\\"b\""), ("True", "\"True\""),
    ])
    func `a value is JSON where it reads as JSON, else a string`(_ text: String, _ json: String) {
        #expect(StateInput.value(text).description == json)
    }

    @Test(arguments: ["1234567", "1e10", "true", "{}", "", "a\"b"])
    func `a value of --text is a string, whatever it looks like`(_ text: String) throws {
        let json = JSON.string(text)
        #expect(json.document.root.string == text)
        let object = try StateInput.setting(
            [("a", StateInput.value("1")), ("b", json)], in: .emptyObject)
        #expect(object.description == "{\"a\":1,\"b\":\(json)}")
    }

    @Test func `a field is given once, by -s or by --text`() {
        #expect(throws: ProgramError.self) {
            try StateInput.setting(
                [("a", StateInput.value("1")), ("a", JSON.string("1"))], in: .emptyObject)
        }
    }

    @Test func `what takes -s takes --text`() {
        for command in CommandTable.tombolo.commands {
            #expect(
                command.flags.contains(.field) == command.flags.contains(.textField),
                "\(command.name)")
        }
    }
}
