import Testing
import TomboloCore
import TomboloJSON

@Suite struct FactRecipientTests {
    private func key(_ body: String) -> String? {
        Array(body.utf8).withUnsafeBytes { bytes in
            FactRecipient.key(in: bytes).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    @Test func `what is written about a recipient is found to be about it alone`() throws {
        for name in ["p", "phone-1", "a.b_c:d@e-f", String(repeating: "x", count: 128)] {
            let id = try #require(Identifier(name))
            for (recipient, other, bytes) in [
                (Recipient.device(id), Recipient.channel(id), name),
                (.channel(id), .device(id), "\"\(name)"),
            ] {
                var writer = FactRecipient.body(about: recipient)
                #expect(FactRecipient.isAbout(recipient, writer.bytes + Array("}".utf8)))
                writer.member("reason", "other")
                writer.endObject()
                #expect(key(String(decoding: writer.bytes, as: UTF8.self)) == bytes)
                #expect(FactRecipient.key(recipient) == Array(bytes.utf8))
                #expect(FactRecipient.isAbout(recipient, writer.bytes))
                #expect(!FactRecipient.isAbout(other, writer.bytes))
                #expect(Recipient(try JSONDocument(writer.bytes).root) == recipient)
            }
        }
    }

    @Test func `a fact that only mentions a recipient is not about it`() throws {
        let id = try #require(Identifier("phone-1"))
        for member in ["device", "channel"] {
            let others = [
                "", "{}", #"{"\#(member)":"#, #"{"\#(member)":""#, #"{"\#(member)":"phone-1"#,
                #"{"\#(member)":""}"#, #"{"\#(member)":7}"#, #"{ "\#(member)":"phone-1"}"#,
                #"{"pause":"p","\#(member)":"phone-1"}"#, #"{"\#(member)":"phone-12"}"#,
                #"{"\#(member)":"phone-"}"#, #"{"\#(member)":"other","x":"phone-1"}"#,
                "{\"\(member)\":\"\(String(repeating: "x", count: 129))\"}",
            ]
            for body in others {
                #expect(!FactRecipient.isAbout(.device(id), Array(body.utf8)), "\(body)")
                #expect(!FactRecipient.isAbout(.channel(id), Array(body.utf8)), "\(body)")
            }
            #expect(key(others[others.count - 1]) == nil, "no id is that long")
        }
    }
}
