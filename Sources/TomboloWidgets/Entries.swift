#if canImport(ActivityKit) && !targetEnvironment(macCatalyst)
public import Foundation
internal import TomboloContract
public import WidgetKit

/// An entry of a widget's timeline, as the relay has it.
public struct TomboloEntry: TimelineEntry, Sendable {
    public let date: Date
    /// The content as JSON.
    public let content: Data
    /// What a tap on the widget opens, and what taps on its parts open.
    public let url: URL?
    public let links: [URL]
    /// The pictures in the content, by their addresses.
    public let pictures: [String: Data]

    /// An entry without content, for a placeholder.
    public static var empty: TomboloEntry { TomboloEntry(.empty, pictures: [:]) }

    /// The content as a type of the app. Throws if it does not decode.
    public func content<Content: Decodable>(as type: Content.Type) throws -> Content {
        try JSONDecoder().decode(type, from: content)
    }

    fileprivate init(_ entry: WidgetEntries.Entry, pictures: [String: Data]) {
        date = Date(rfc3339: entry.date)
        content = Data(entry.content)
        url = entry.url.flatMap { URL(string: $0) }
        links = entry.links.compactMap { URL(string: $0) }
        self.pictures = pictures
    }
}

extension Tombolo {
    /// The timeline of a widget, with its pictures. If the relay cannot be reached it is the one
    /// that was fetched last. If the relay refuses the key nothing of it is kept.
    ///
    /// - Parameter config: what the widget is configured to; nil if it has no configuration.
    public static func entries(
        kind: String, family: WidgetFamily, config: String? = nil
    ) async -> Timeline<TomboloEntry> {
        // Before the phone's first unlock no file can be read, and none is written over.
        guard !KeyStore.read.isLocked else {
            return Timeline(entries: [.empty], policy: .after(.now + 900))
        }
        let folder = Folder(folderName)
        let query = config.map { "&config=" + PathSegment.encoded($0) } ?? ""
        let family = families[family] ?? "\(family)"
        let name = PathSegment.fileName("\(kind) \(family) \(config ?? "")")
        let before = folder.read(name)
        let answer = await Transport.get(
            "/timelines/\(PathSegment.encoded(kind))/entries?family=\(family)\(query)")
        let kept = WidgetEntries.kept(status: answer.status, body: answer.body, before: before)
        if kept == nil { clearEntries() }
        kept.map { folder.write($0, name) }
        let known = WidgetEntries(kept ?? []) ?? .empty
        let pictures = await pictures(
            known.entries.flatMap(\.pictures), in: Folder("\(folderName)/pictures-\(name)"))
        let entries = known.entries.map { TomboloEntry($0, pictures: pictures) }
        let after = known.after.map { TimelineReloadPolicy.after(Date(rfc3339: $0)) }
        let policy = after ?? (known.isAtEnd ? .atEnd : .never)
        return Timeline(
            entries: entries.isEmpty ? [.empty] : entries,
            // Without an answer the widget asks again soon.
            policy: [200, 404].contains(answer.status) ? policy : .after(.now + 900))
    }

    private static let families: [WidgetFamily: String] = [
        .systemSmall: "systemSmall", .systemMedium: "systemMedium", .systemLarge: "systemLarge",
        .systemExtraLarge: "systemExtraLarge", .accessoryInline: "accessoryInline",
        .accessoryCircular: "accessoryCircular", .accessoryRectangular: "accessoryRectangular",
    ]

    private static let folderName = "entries"

    /// Removes all that widgets have fetched, as it may be of a former user, and reloads them.
    package static func forgetEntries() {
        clearEntries()
        WidgetCenter.shared.reloadAllTimelines()
    }

    private static func clearEntries() { Folder(folderName).clear() }

    /// The pictures that are kept or can be fetched. The folder then has these only.
    private static func pictures(
        _ addresses: [String], in folder: Folder
    ) async -> [String: Data] {
        var pictures: [String: Data] = [:]
        for address in addresses
        where pictures[address] == nil && pictures.count < WidgetEntries.picturesMax {
            let kept = folder.read(PathSegment.fileName(address)).map { Data($0) }
            pictures[address] = kept
            guard kept == nil else { continue }
            pictures[address] = await load(address)
        }
        folder.clear()
        for (address, data) in pictures {
            folder.write(Array(data), PathSegment.fileName(address))
        }
        return pictures
    }

    /// Nil if the picture does not come within 4 s, or is too large: the widget draws without it.
    private static func load(_ address: String) async -> Data? {
        guard let url = URL(string: address),
            // Why it does not come does not matter.
            let answer = try? await URLSession.shared.data(
                for: URLRequest(url: url, timeoutInterval: 4)),
            (answer.1 as? HTTPURLResponse)?.statusCode == 200,
            answer.0.count <= WidgetEntries.pictureBytesMax
        else { return nil }
        return answer.0
    }
}
#endif
