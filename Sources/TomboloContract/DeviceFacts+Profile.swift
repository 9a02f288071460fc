extension DeviceFacts {
    /// The environment of a build's tokens, from its provisioning profile.
    ///
    /// - Parameter profile: the bytes of `embedded.mobileprovision`; nil if the bundle has none, as
    ///   with TestFlight and the App Store.
    /// - Returns: `sandbox` if the profile allows development pushes, else `production`.
    public static func environment(ofProfile profile: [UInt8]?) -> String {
        // The profile is a signed envelope around a property list in XML.
        let text = String(decoding: profile ?? [], as: UTF8.self)
        guard let key = text.firstRange(of: "<key>aps-environment</key>"),
            let end = text[key.upperBound...].firstRange(of: "</string>")
        else { return "production" }
        return text[key.upperBound..<end.lowerBound].hasSuffix("<string>development")
            ? "sandbox" : "production"
    }
}
