import Testing
import TomboloCrypto

struct HashTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-256 agrees with the examples of FIPS 180`(text: String, digest: String) {
        #expect(Hex.encode(SHA256.digest(text)) == digest)
    }

    @Test(arguments: [
        // RFC 4231, cases 1, 2, 6 (a key longer than a block).
        (
            [UInt8](repeating: 0x0b, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            [UInt8]("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131),
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
    func `HMAC-SHA-256 agrees with RFC 4231, and takes an empty key`(
        key: [UInt8], message: String, code: String
    ) {
        #expect(
            Hex.encode(HMACSHA256.authenticate([UInt8](message.utf8), key: key)) == code)
    }

    @Test func `equality looks at every byte and at the length`() {
        let secret = [UInt8]("secret".utf8)
        #expect(equalInConstantTime(secret, secret))
        #expect(equalInConstantTime([], []))
        #expect(!equalInConstantTime(secret, [UInt8]("secre".utf8)))
        #expect(!equalInConstantTime(secret, []))
        for index in secret.indices {
            var other = secret
            other[index] ^= 1
            #expect(!equalInConstantTime(secret, other))
        }
    }

    @Test func `random bytes have the length asked for and do not repeat`() {
        #expect(RandomBytes.make(0).isEmpty)
        #expect(RandomBytes.make(1).count == 1)
        let made = (0..<100).map { _ in RandomBytes.make(16) }
        #expect(Set(made).count == 100)
        #expect(made.allSatisfy { $0.count == 16 })
    }
}
