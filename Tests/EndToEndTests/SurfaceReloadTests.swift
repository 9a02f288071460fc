import Testing
import TomboloJSON

@testable import TomboloProgram

/// `timeline reload` and `control reload`, as somebody at a shell has them.
@Suite(.serialized) struct SurfaceReloadTests {
    private static func register(_ dev: RunningRelay, _ path: String, _ body: String) throws {
        let result = try Shell.run(
            "curl", "-sS", "--fail-with-body", "-X", "PUT", "-H", "content-type: application/json",
            "-H", "authorization: Bearer \(dev.key)", "-d", body,
            "\(dev.api)/v1/devices/\(path)")
        #expect(result.status == 0, "\(result.output) \(result.errors)")
    }

    @Test func `reloads go to those who have a token, and the rest is told`() throws {
        let dev = try RunningRelay()
        try Self.register(dev, "tablet", #"{"user":"u42"}"#)
        try Self.register(dev, "watch", #"{"user":"u42"}"#)
        try Self.register(dev, "tablet/tokens/widget", #"{"token":"aa11"}"#)
        try Self.register(dev, "tablet/tokens/control:lock", #"{"token":"bb22"}"#)
        for words in [["timeline", "reload", "profile"], ["control", "reload", "lock"]] {
            let tried = try dev.tombolo(words + ["--user", "u42", "--dry-run", "-o", "table"])
            #expect(tried.status == 6)
            #expect(tried.output == "\(words[2]): 1 would reload; 1 without a token for it\n")
            // Apple knows no such token: after this it is gone.
            let one = try dev.tombolo(words + ["--device", "tablet", "-o", "json"])
            #expect(one.status == 0, "\(one.errors)")
            let view = try json(one.output)
            #expect(view["kind"]?.string == words[2] && view["wanted"]?.integer == 1)
            let none = try dev.tombolo(words + ["--device", "watch", "--device", "nobody"])
            #expect(none.status == 3, "\(none.output)")
        }
        let other = try dev.tombolo("control", "reload", "lamp", "--device", "tablet")
        #expect(other.status == 3, "a control of another kind")
    }
}
