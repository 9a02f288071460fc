/// A public key on P-256: verifies what its private key signed. May be used from any thread.
package struct P256PublicKey: Sendable {
    /// May hold the private half as well; nothing here gives it away.
    private let handle: KeyHandle

    init(handle: KeyHandle) { self.handle = handle }

    /// Whether `signature` is the key's ES256 over `message`.
    ///
    /// Takes R‖S (RFC 7518, section 3.4) and DER, since APNs takes both: Apple's own sample token
    /// and its recipe with `openssl dgst -sign` are DER. Anything else is false; nothing traps.
    package func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        if let der = ECDSASignature.der(raw: signature), handle.verifiesDER(der, over: message) {
            return true
        }
        return handle.verifiesDER(signature, over: message)
    }
}
