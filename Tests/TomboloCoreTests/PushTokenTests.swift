import Testing

@testable import TomboloCore

/// Tokens in little room.
@Suite struct PushTokenTests {
    @Test(arguments: [
        "", "0", "aa", "00ff19", "AA", "abc", "zz", "8J+SpQ==", "e0ZqVbbHEe6qVQoAIBOI",
    ])
    func `every text comes back as it was given`(_ text: String) {
        #expect(PushToken(text).text == text)
        #expect(PushToken(text) == PushToken(text))
        #expect(PushToken(text).hashValue == PushToken(text).hashValue)
    }

    @Test func `other texts are other tokens`() {
        let texts = ["", "aa", "ab", "aabb", "AA", "a", "\u{aa}"]
        #expect(Set(texts.map { PushToken($0) }).count == texts.count)
    }

    @Test func `a table keeps the newest of each name, in the order of their coming`() {
        var table = TokenTable()
        func token(_ text: String) -> Device.Token {
            Device.Token(
                value: PushToken(text), registeredAt: Instant(seconds: 1),
                observedAt: Instant(seconds: 2))
        }
        table[.widget] = token("aa")
        table[.start(type: "Runner")] = token("bb")
        table[.widget] = token("cc")
        #expect(table.names == [.widget, .start(type: "Runner")])
        #expect(table[.widget] == token("cc"))
        #expect(table.remove(.widget) == token("cc"))
        #expect(table.remove(.widget) == nil)
        #expect(table.count == 1 && !table.isEmpty)
    }

    @Test func `registrations that are alike are kept once, and not without end`() {
        var pool = RegistrationPool()
        func registration(_ os: Int) -> RegistrationPool.Shared {
            var one = DeviceRegistration()
            one.os = "\(os)"
            return RegistrationPool.Shared(one)
        }
        let first = pool.shared(registration(1))
        #expect(pool.shared(registration(1)) === first)
        for os in 2...RegistrationPool.countMax { _ = pool.shared(registration(os)) }
        #expect(pool.count == RegistrationPool.countMax)
        _ = pool.shared(registration(0))
        #expect(pool.count == 1)
    }
}
