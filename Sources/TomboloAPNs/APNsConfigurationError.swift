package import TomboloCrypto

/// Why an app's push configuration cannot be used. Each text says what to write instead.
package enum APNsConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    case keyID(String)
    case teamID(String)
    case bundleID(String)
    case endpoint(String)
    case connections(Int)
    case key(KeyError)
    /// The certificates of `ca_file` cannot be read.
    case authorities(String)

    package var description: String {
        switch self {
        case .keyID(let id):
            """
            key_id "\(id)" is not a key id: it has ten characters of A-Z and 0-9, as in the name \
            of the file AuthKey_ABC123DEFG.p8
            """
        case .teamID(let id):
            """
            team_id "\(id)" is not a team id: it has ten characters of A-Z and 0-9, see Membership \
            details in Apple's developer account
            """
        case .bundleID(let id):
            """
            app id "\(id)" is not a bundle id: letters, digits, "-" and "." only, without the \
            suffix .push-type.liveactivity, which is added here
            """
        case .endpoint(let url):
            """
            endpoint "\(url)" is not of the form https://HOST:PORT; leave it out to send to Apple
            """
        case .connections(let count):
            "connections is \(count), but must be 1 to \(APNsConfiguration.connectionsMax)"
        case .key(let error):
            "key_file: \(error)"
        case .authorities(let fault):
            "ca_file: \(fault)"
        }
    }
}
