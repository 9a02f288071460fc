import Testing
import TomboloCrypto

struct EncodingTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `base 64 agrees with RFC 4648 in both directions`(plain: String, encoded: String) {
        #expect(Base64.encode([UInt8](plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == [UInt8](plain.utf8))
        let unpadded = String(encoded.prefix { $0 != "=" })
        #expect(Base64URL.encode([UInt8](plain.utf8)) == unpadded)
        #expect(Base64URL.decode(unpadded) == [UInt8](plain.utf8))
    }

    @Test func `the two alphabets differ in their last two characters`() {
        #expect(Base64.encode([0xFB, 0xFF, 0xBF]) == "+/+/")
        #expect(Base64URL.encode([0xFB, 0xFF, 0xBF]) == "-_-_")
        #expect(Base64.decode("-_-_") == nil)
        #expect(Base64URL.decode("+/+/") == nil)
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm9v\n", "Zm 9", "Zg==Zg==", "é",
    ])
    func `padded base 64 takes nothing but the one encoding`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["Z", "Zg==", "Zh", "Zm9", "Zm9vY", "Zm9v\n", "Zm.v", "é"])
    func `base 64 for URLs takes nothing but the one encoding`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `every byte survives each encoding`() {
        for count in [1, 2, 3, 255, 256] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
            #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        }
    }

    @Test func `hex is written in lower case and read in either`() {
        #expect(Hex.encode([0x00, 0xAB, 0xF9]) == "00abf9")
        #expect(Hex.decode("00aBF9") == [0x00, 0xAB, 0xF9])
        #expect(Hex.decode("") == [])
    }

    @Test(arguments: ["0", "0g", "g0", " 0", "0x", "00 ", "é"])
    func `hex refuses an odd length and foreign characters`(text: String) {
        #expect(Hex.decode(text) == nil)
    }
}
