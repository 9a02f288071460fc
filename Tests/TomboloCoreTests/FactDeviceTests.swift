import Testing
import TomboloCore
import TomboloJSON

@Suite struct FactDeviceTests {
    private func id(_ body: String) -> String? {
        Array(body.utf8).withUnsafeBytes { bytes in
            FactDevice.id(in: bytes).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    @Test func `what is written about a device is found to be about it`() throws {
        for name in ["p", "phone-1", "a.b_c:d@e-f", String(repeating: "x", count: 128)] {
            let device = try #require(Identifier(name))
            var writer = FactDevice.body(about: device)
            #expect(FactDevice.isAbout(device, writer.bytes + Array("}".utf8)))
            writer.member("reason", "other")
            writer.endObject()
            #expect(id(String(decoding: writer.bytes, as: UTF8.self)) == name)
            #expect(FactDevice.isAbout(device, writer.bytes))
        }
    }

    @Test func `a fact that only mentions a device is not about it`() throws {
        let device = try #require(Identifier("phone-1"))
        let others = [
            "", "{}", #"{"device":"#, #"{"device":""#, #"{"device":"phone-1"#, #"{"device":""}"#,
            #"{"device":7}"#, #"{ "device":"phone-1"}"#, #"{"pause":"p","device":"phone-1"}"#,
            #"{"device":"phone-12"}"#, #"{"device":"phone-"}"#,
            #"{"device":"other","x":"phone-1"}"#,
            "{\"device\":\"\(String(repeating: "x", count: 129))\"}",
        ]
        for body in others { #expect(!FactDevice.isAbout(device, Array(body.utf8)), "\(body)") }
        #expect(id(others[others.count - 1]) == nil, "no id is that long")
    }
}
