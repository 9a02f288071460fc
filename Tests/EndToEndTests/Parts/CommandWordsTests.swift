import Testing

@testable import TomboloProgram

/// What errors of commands name where the relay's own texts name requests.
@Suite struct CommandWordsTests {
    @Test(arguments: [
        ("List them with GET /v1/pauses.", "List them with tombolo pause."),
        ("PUT /v1/activities/cat-7.b starts it.", "tombolo start cat-7.b starts it."),
        ("Register it with PUT /v1/devices/p.", "Register it with the app."),
        ("over (POST /v1/activities/end)", "over (tombolo end --type TYPE)"),
        ("Delete some with DELETE /v1/keys/{id}, or", "Delete some with tombolo key rm ID, or"),
        ("it registers, PUT /v1/devices/{device}", "it registers, PUT /v1/devices/{device}"),
        ("nothing here", "nothing here"),
    ])
    func `a request is named as the command that sends it`(_ text: String, _ words: String) {
        #expect(CommandWords.replacingRequests(in: text) == words)
    }
}
