import Testing
import TomboloJSON

@testable import tombolo

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
}
