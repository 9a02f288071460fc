import Testing
import TomboloJSON

@testable import TomboloProgram

/// What the keys of `dev`'s screen mean.
@Suite struct DevKeysTests {
    private func phone(_ text: String) -> JSONView {
        JSON(unchecked: Array(text.utf8)).document.root
    }

    @Test(arguments: [
        ("f", #"{"presence":"background"}"#, "front"), ("f", #"{"presence":"active"}"#, "back"),
        ("c", #"{"presence":"active"}"#, "control-center"),
        ("c", #"{"presence":"covered"}"#, "front"),
        ("l", #"{"locked":false}"#, "lock"), ("l", #"{"locked":true}"#, "unlock"),
        ("o", #"{"online":true}"#, "offline"), ("o", #"{"online":false}"#, "online"),
        ("a", "{}", "allow"),
    ])
    func `a letter does the next thing to the chosen phone`(
        key: String, phone: String, deed: String
    ) {
        var keys = DevKeys(phones: 3)
        #expect(
            keys.press(Array(key.utf8)[0], on: self.phone(phone)) == .act(#"{"do":"\#(deed)"}"#))
    }

    @Test func `a swipe takes the newest card, where there is one`() {
        var keys = DevKeys(phones: 3)
        let cards = #"{"cards":[{"activity":"old"},{"activity":"new"}]}"#
        #expect(
            keys.press(UInt8(ascii: "s"), on: phone(cards))
                == .act(#"{"do":"swipe","activity":"new"}"#))
        #expect(keys.press(UInt8(ascii: "s"), on: phone(#"{"cards":[]}"#)) == .nothing)
        #expect(keys.press(UInt8(ascii: "s"), on: nil) == .nothing)
    }

    @Test func `a digit chooses a phone that is there, and q quits`() {
        var keys = DevKeys(phones: 3)
        for (key, chosen) in [("2", 1), ("9", 1), ("0", 1), ("3", 2), ("x", 2)] {
            #expect(keys.press(Array(key.utf8)[0], on: nil) == .nothing)
            #expect(keys.chosen == chosen)
        }
        #expect(keys.press(UInt8(ascii: "q"), on: nil) == .quit)
    }

    @Test func `a phone's place is shown where it is not as most are`() {
        #expect(
            DevKeys.place(phone(#"{"presence":"background","locked":false,"online":true}"#)) == "")
        #expect(
            DevKeys.place(phone(#"{"presence":"covered","online":false,"budget":{"holds":true}}"#))
                == "Control Center, offline, over budget")
    }
}
