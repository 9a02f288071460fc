#if canImport(ActivityKit) && !targetEnvironment(macCatalyst)
package import Foundation

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

/// How an app and its extension reach the relay. The app writes it, the extension reads it, also
/// before the phone was unlocked for the first time.
package struct Connection: Codable, Sendable {
    package var relay: URL
    package var device: String
    private static let (folder, name) = ("app", "connection")

    package init(relay: URL, device: String) { (self.relay, self.device) = (relay, device) }

    /// The App Group; nil if the app has no extension.
    package static var group: String? {
        Bundle.main.object(forInfoDictionaryKey: "TomboloGroup") as? String
    }

    /// Nil until the app has called `configure` for the first time.
    package static var current: Connection? {
        // It was written by `save`; another value is as good as none.
        Folder(folder).read(name).flatMap { try? JSONDecoder().decode(Self.self, from: Data($0)) }
    }

    package func save() {
        // A URL and a text always encode.
        guard let data = try? JSONEncoder().encode(self) else { return }
        Folder(Self.folder).write(Array(data), Self.name, .noFileProtection)
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
#endif
