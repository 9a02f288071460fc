#if canImport(ActivityKit) && !targetEnvironment(macCatalyst)
package import Foundation
internal import Security

/// Tombolo in an app and in its widget extension.
///
/// Both targets have the member `TomboloGroup` in their `Info.plist`: their common App Group.
/// The app calls `configure` and `observe` of `TomboloKit`; the extension uses what is here.
public enum Tombolo {
    /// An id for this installation: made at the first launch, and not in backups. It can be read at
    /// any time, also before the phone was unlocked for the first time.
    public static var installation: String {
        let (folder, name) = (Folder("app"), "installation")
        let known = folder.read(name).map { String(decoding: $0, as: UTF8.self) }
        let id = known ?? UUID().uuidString.lowercased()
        folder.write(Array(id.utf8), name, .noFileProtection)
        return id
    }
}

/// How an app and its extension reach the relay. The app writes it, and the extension reads it.
package struct Connection: Codable, Sendable {
    package var relay: URL
    package var device: String
    private static let name = "tombolo.connection"

    package init(relay: URL, device: String) { (self.relay, self.device) = (relay, device) }

    /// The App Group; nil if the app has no extension.
    package static var group: String? {
        Bundle.main.object(forInfoDictionaryKey: "TomboloGroup") as? String
    }

    /// Nil until the app has called `configure` for the first time.
    package static var current: Connection? {
        // It was written by `save`; another value is as good as none.
        UserDefaults(suiteName: group)?.data(forKey: name)
            .flatMap { try? JSONDecoder().decode(Self.self, from: $0) }
    }

    package func save() {
        // A URL and a text always encode.
        let data = try? JSONEncoder().encode(self)
        UserDefaults(suiteName: Self.group)?.set(data, forKey: Self.name)
    }
}

/// A folder of the App Group, else of the app.
package struct Folder: Sendable {
    private let url: URL

    package init(_ name: String) {
        let files = FileManager.default
        let group = Connection.group.flatMap {
            files.containerURL(forSecurityApplicationGroupIdentifier: $0)
        }
        let own = files.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        url = (group ?? own ?? files.temporaryDirectory).appending(path: "tombolo/" + name)
    }

    package func url(_ name: String) -> URL { url.appending(path: name) }

    /// The file's bytes; nil if there is none, or if `isLocked`.
    package func read(_ name: String) -> [UInt8]? {
        // It does not matter why: the caller does without.
        (try? Data(contentsOf: url(name))).map(Array.init)
    }

    /// True if the file cannot be read because the phone was not unlocked since its start.
    package func isLocked(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: url(name).path) && read(name) == nil
    }

    /// Writes a file that no backup has. A full disk loses it.
    package func write(
        _ bytes: [UInt8], _ name: String,
        _ protection: Data.WritingOptions = .completeFileProtectionUntilFirstUserAuthentication
    ) {
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        var (folder, values) = (url, URLResourceValues())
        values.isExcludedFromBackup = true
        try? folder.setResourceValues(values)
        try? Data(bytes).write(to: url(name), options: [.atomic, protection])
    }

    /// Removes the folder, if it is there.
    package func clear() { try? FileManager.default.removeItem(at: url) }
}

extension Date {
    /// In RFC 3339, with milliseconds.
    package var rfc3339: String { ISO8601Format(.init(includingFractionalSeconds: true)) }

    /// Reads RFC 3339. A text that is no time is now.
    package init(rfc3339 text: String) {
        let styles = [ISO8601FormatStyle(), ISO8601FormatStyle(includingFractionalSeconds: true)]
        // One of them reads it: the relay writes times with a fraction or without.
        self = styles.lazy.compactMap { try? $0.parse(text) }.first ?? .now
    }
}

extension Data {
    /// A token as the relay takes it.
    package var hex: String { map { String(format: "%02x", $0) }.joined() }
}

/// The device's key in the Keychain. The app and its extension share it by the App Group. It can be
/// read while the phone is locked, once it was unlocked after its start.
package enum KeyStore {
    private static var item: [String: Any] {
        let base: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "tombolo",
            // Of this installation: the Keychain outlives the app.
            kSecAttrAccount as String: Connection.current?.device ?? "",
        ]
        let group = Connection.group.map { [kSecAttrAccessGroup as String: $0 as Any] } ?? [:]
        return base.merging(group) { $1 }
    }

    /// Nil if there is none, or if the phone was not unlocked since its start.
    package static var key: String? {
        var found: CFTypeRef?
        let asked: [String: Any] = [kSecReturnData as String: true]
        _ = SecItemCopyMatching(item.merging(asked) { $1 } as CFDictionary, &found)
        return (found as? Data).flatMap { String(data: $0, encoding: .utf8) }
    }

    /// Replaces the key; nil removes it. False if there is no key now.
    package static func save(_ key: String?) -> Bool {
        _ = SecItemDelete(item as CFDictionary)
        guard let data = key?.data(using: .utf8) else { return false }
        let value: [String: Any] = [
            kSecValueData as String: data,
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        return SecItemAdd(item.merging(value) { $1 } as CFDictionary, nil) == errSecSuccess
    }
}
#endif
