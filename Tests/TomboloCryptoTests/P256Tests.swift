import Testing
import TomboloCrypto

struct P256Tests {
    let message = [UInt8]("a message to sign".utf8)

    @Test func `a signature is 64 bytes and verifies under its own key only`() {
        let key = P256PrivateKey.generate()
        let other = P256PrivateKey.generate()
        // Many, since R or S is shorter than 32 bytes in one of 128.
        for _ in 0..<300 {
            let signature = key.signature(over: message)
            #expect(signature.count == 64)
            #expect(key.publicKey.verifies(signature, over: message))
        }
        let signature = key.signature(over: message)
        #expect(!other.publicKey.verifies(signature, over: message))
        #expect(!key.publicKey.verifies(signature, over: message + [0]))
    }

    @Test func `the example of RFC 6979 verifies, and each changed byte of it does not`() throws {
        let key = try P256PrivateKey(pkcs8PEM: rfc6979Key)
        let r = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
        let s = "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
        let signature = try #require(Hex.decode(r + s))
        let sample = [UInt8]("sample".utf8)
        #expect(key.publicKey.verifies(signature, over: sample))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 0x10
            #expect(!key.publicKey.verifies(changed, over: sample))
        }
    }

    @Test(arguments: [0, 1, 63, 65, 200])
    func `a signature of another length is false, not a trap`(count: Int) {
        let key = P256PrivateKey.generate().publicKey
        #expect(!key.verifies([UInt8](repeating: 0x30, count: count), over: message))
        #expect(!key.verifies([UInt8](repeating: 0, count: count), over: message))
    }

    @Test func `the openssl command verifies what we sign, and we what it signs`() throws {
        let openssl = OpenSSLCommand()
        let key = P256PrivateKey.generate()
        openssl.write(key.pkcs8PEM, to: "key.p8")
        openssl.write(message, to: "message")
        #expect(openssl.run("pkey -in key.p8 -pubout -out key.pub").status == 0)

        #expect(openssl.run("dgst -sha256 -sign key.p8 -out theirs message").status == 0)
        #expect(key.publicKey.verifies(openssl.read("theirs"), over: message))

        let raw = key.signature(over: message)
        openssl.write(der(of: raw), to: "ours")
        let verdict = openssl.run("dgst -sha256 -verify key.pub -signature ours message")
        #expect(verdict.output.contains("Verified OK"))
    }

    @Test func `a key made by openssl as Apple makes them is read and written back alike`() throws {
        let openssl = OpenSSLCommand()
        let command = "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.p8"
        #expect(openssl.run(command).status == 0)
        let pem = openssl.read("key.p8")
        let key = try P256PrivateKey(pkcs8PEM: pem)
        #expect(key.pkcs8PEM == pem)
        let windows = String(decoding: pem, as: UTF8.self).replacing("\n", with: "\r\n")
        let again = try P256PrivateKey(pkcs8PEM: [UInt8](windows.utf8))
        #expect(again.publicKey.verifies(key.signature(over: message), over: message))
    }

    @Test func `what is no key on P-256 is refused with the reason`() throws {
        let openssl = OpenSSLCommand()
        let made = [
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out p384.p8",
            "genpkey -algorithm ED25519 -out ed25519.p8",
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out p256.p8",
            "pkcs8 -topk8 -in p256.p8 -passout pass:secret -out encrypted.p8",
            "pkey -in p256.p8 -pubout -out public.pem",
        ]
        for command in made { #expect(openssl.run(command).status == 0) }
        #expect(refusal(of: openssl.read("p384.p8")) == .notP256)
        #expect(refusal(of: openssl.read("ed25519.p8")) == .notP256)
        #expect(refusal(of: openssl.read("encrypted.p8")) == .encrypted)
        #expect(refusal(of: openssl.read("public.pem")) == .notPKCS8PEM)
        #expect(refusal(of: []) == .notPKCS8PEM)
        #expect(refusal(of: [0xFF, 0x00, 0x30]) == .notPKCS8PEM)
        let pem = openssl.read("p256.p8")
        #expect(refusal(of: pem) == nil)
        #expect(refusal(of: Array(pem.prefix(80))) == .damaged)
        #expect(refusal(of: [UInt8]("-----BEGIN PRIVATE KEY-----\n".utf8)) == .damaged)
    }

    @Test func `lines that a copy has spoilt are named as the cause`() {
        let pem = String(decoding: rfc6979Key, as: UTF8.self)
        let spoilt: [(KeyError.Lines, String)] = [
            (.escaped, pem.replacing("\n", with: #"\n"#)), (.quoted, "\"\(pem)\""),
            (.quoted, "'\(pem)'"), (.joined, pem.replacing("\n", with: " ")),
            (.indented, pem.split(separator: "\n").map { "  \($0)\n" }.joined()),
        ]
        for (lines, text) in spoilt {
            #expect(refusal(of: Array(text.utf8)) == .lines(lines), "\(text)")
            let words = KeyError.lines(lines).description
            #expect(words.contains("line") || words.contains("quotes"))
            #expect(!words.contains("KEY") || words.hasSuffix(" > fixed.p8)"), "\(words)")
        }
    }

    @Test func `a key does not print itself`() {
        let key = P256PrivateKey.generate()
        #expect("\(key)" == "P256PrivateKey")
        #expect(String(reflecting: key).contains("BEGIN") == false)
    }

    private func refusal(of pem: [UInt8]) -> KeyError? {
        do throws(KeyError) {
            _ = try P256PrivateKey(pkcs8PEM: pem)
            return nil
        } catch {
            return error
        }
    }

    /// DER of R‖S, written by hand: not with the code under test.
    private func der(of raw: [UInt8]) -> [UInt8] {
        let integers = [raw[..<32], raw[32...]].map { half -> [UInt8] in
            var digits = Array(half.drop { $0 == 0 })
            if digits[0] >= 0x80 { digits.insert(0, at: 0) }
            return [0x02, UInt8(digits.count)] + digits
        }
        return [0x30, UInt8(integers[0].count + integers[1].count)] + integers[0] + integers[1]
    }

    /// The private key of RFC 6979, A.2.5.
    private var rfc6979Key: [UInt8] {
        let scalar = "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"
        // PrivateKeyInfo { 0, { ecPublicKey, prime256v1 }, ECPrivateKey { 1, scalar } }
        let header = "3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420"
        let base64 = Base64.encode(Hex.decode(header + scalar)!)
        return [UInt8]("-----BEGIN PRIVATE KEY-----\n\(base64)\n-----END PRIVATE KEY-----\n".utf8)
    }
}
