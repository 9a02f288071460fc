import Synchronization
package import TomboloCore

/// The machine's copy of the IANA database (Debian's `tzdata`): a file for each zone, read when it
/// is first needed.
package final class ZoneDirectory: TimeZoneSource {
    package static let shared = ZoneDirectory("/usr/share/zoneinfo")

    private let path: String
    /// The zones that were read so far. Unknown names, which clients send, are not kept.
    private let known = Mutex<[String: TimeZoneRules]>([:])

    /// Maximum size of a file in bytes: ten times the largest one.
    private static let bytesMax = 64 << 10

    init(_ path: String) { self.path = path }

    package func rules(of name: String) -> TimeZoneRules? {
        if let rules = known.withLock({ $0[name] }) { return rules }
        guard let rules = read(name) else { return nil }
        known.withLock { $0[name] = rules }
        return rules
    }

    private func read(_ name: String) -> TimeZoneRules? {
        // Refuses paths out of the directory, and other files such as `tzdata.zi` or `posix/…`.
        guard name.utf8.count <= 64, name.utf8.first.map(Self.isUpper) == true,
            name.utf8.allSatisfy(Self.isOfName),
            !name.split(separator: "/", omittingEmptySubsequences: false).contains("")
        else { return nil }
        do {
            return try TimeZoneRules(
                tzif: FileBytes.readRegular("\(path)/\(name)", atMost: Self.bytesMax))
        } catch {
            return nil
        }
    }

    private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) }

    private static func isOfName(_ byte: UInt8) -> Bool {
        isUpper(byte) || (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte)
            || "+-_/".utf8.contains(byte)
    }
}
