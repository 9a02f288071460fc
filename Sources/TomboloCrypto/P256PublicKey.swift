/// A public key on P-256: verifies what its private key signed. May be used from any thread.
package struct P256PublicKey: Sendable {
    /// May also contain the private key, which this type never exposes.
    private let handle: KeyHandle

    init(handle: KeyHandle) { self.handle = handle }

    /// True if `signature` is an ES256 signature of `message` by this key.
    ///
    /// Accepts R‖S (RFC 7518, section 3.4) and DER, as APNs does: Apple's own sample token and its
    /// instructions with `openssl dgst -sign` use DER. Returns false for all other bytes; never
    /// traps.
    package func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        if let der = ECDSASignature.der(raw: signature), handle.verifiesDER(der, over: message) {
            return true
        }
        return handle.verifiesDER(signature, over: message)
    }
}
