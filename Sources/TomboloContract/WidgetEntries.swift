import TomboloJSON

/// What a widget shows, and when: the answer of `GET /v1/timelines/KIND/entries`.
public struct WidgetEntries: Hashable, Sendable {
    /// One entry of a timeline.
    public struct Entry: Hashable, Sendable {
        /// When it is shown, in RFC 3339.
        public var date: String
        /// The content as one JSON object.
        public var content: [UInt8]
        public var url: String?
        public var links: [String]
        /// Addresses of pictures in the content. Fetch them before the timeline is returned: a
        /// widget's view cannot load anything.
        public var pictures: [String]
        /// From 0 to 1; nil if the producer gives none.
        public var relevance: Double?

        /// No content, for a placeholder.
        public static let empty = Entry(
            date: "", content: Array("{}".utf8), url: nil, links: [], pictures: [], relevance: nil)
    }

    public var entries: [Entry]
    /// When the system asks for the next timeline, in RFC 3339; nil: `isAtEnd` says.
    public var after: String?
    /// The system asks for the next timeline after the last entry; false: never.
    public var isAtEnd = false

    /// No entries, and no next timeline.
    public static let empty = WidgetEntries(entries: [])
    /// Maximum number of pictures of an entry, and of a widget. An extension has about 30 MB of
    /// memory.
    public static let picturesMax = 8
    /// Maximum size of a picture in bytes.
    public static let pictureBytesMax = 1 << 20

    init(entries: [Entry]) { self.entries = entries }

    /// Reads an answer. Nil if it is not one, such as a proxy's page.
    public init?(_ body: [UInt8]) {
        // Why it cannot be read does not matter: the widget keeps what it has.
        guard let root = (try? JSONDocument(body))?.root, let list = root["entries"] else {
            return nil
        }
        entries = list.elements.compactMap(Self.entry)
        after = root["policy"]?["after"]?.string
        isAtEnd = root["policy"]?.string == "atEnd"
    }

    private static func entry(_ view: JSONView) -> Entry? {
        guard let date = view["date"]?.string, let content = view["content"] else { return nil }
        let texts = content.members.map(\.value).flatMap { [$0] + $0.elements }
        return Entry(
            date: date, content: Array(content.raw), url: view["url"]?.string,
            links: view["links"]?.elements.compactMap(\.string) ?? [],
            pictures: Array(texts.compactMap(\.string).filter(isPicture).prefix(picturesMax)),
            relevance: view["relevance"]?.double)
    }

    private static func isPicture(_ text: String) -> Bool {
        let path = text.prefix { $0 != "?" && $0 != "#" }.lowercased()
        return path.hasPrefix("https://")
            && [".png", ".jpg", ".jpeg", ".heic", ".webp"].contains(where: path.hasSuffix)
    }

    /// The answer to keep for the next time. Nil if all kept answers and pictures must go: the key
    /// is refused, so they may be those of a former user.
    ///
    /// - Parameters:
    ///   - status: the status; nil if no answer came.
    ///   - before: the answer that is kept now; nil if there is none.
    public static func kept(status: Int?, body: [UInt8], before: [UInt8]?) -> [UInt8]? {
        switch status {
        case 200: body
        // The widget's item does not exist, or is not this user's.
        case 404: Array(#"{"entries":[],"policy":"never"}"#.utf8)
        case 401, 403: nil
        default: before ?? []
        }
    }
}
