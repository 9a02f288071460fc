import TomboloAPI
import TomboloCore

/// The newest refused and slow requests, in memory only.
///
/// It has room for 1 MB. When it is full, the tenant that holds most loses its oldest entry, so
/// that one noisy producer does not push out what others have sent. Requests without a valid key
/// have a quarter of the room at most. To keep an entry costs a few microseconds.
struct RequestMemory {
    /// Most bytes of all entries, as `bytes(of:)` estimates them.
    static let bytesMax = 1_000_000
    /// Most bytes of requests without a valid key, which anybody can send.
    static let strangersBytesMax = bytesMax / 4
    /// A text may quote what the client has sent, of any length.
    static let textBytesMax = 400
    /// What an entry takes without its texts, and a line of it.
    static let (entryBytes, lineBytes) = (512, 192)

    /// The entries of one tenant, or of strangers, oldest first.
    private struct Room {
        private var rows: [RequestEntry?] = []
        private var first = 0
        private(set) var bytes = 0

        var entries: some BidirectionalCollection<RequestEntry> {
            rows[first...].lazy.compactMap { $0 }
        }
        var oldest: RequestEntry? { first < rows.count ? rows[first] : nil }

        mutating func append(_ entry: RequestEntry) {
            rows.append(entry)
            bytes += RequestMemory.bytes(of: entry)
        }

        /// Removes the oldest entry. Moves the others only when half of the rows are empty.
        mutating func removeOldest() {
            guard let oldest else { return }
            bytes -= RequestMemory.bytes(of: oldest)
            rows[first] = nil
            first += 1
            guard first > rows.count / 2 else { return }
            rows.removeFirst(first)
            first = 0
        }

        mutating func removeAll(where isGone: (RequestEntry) -> Bool) {
            rows = entries.filter { !isGone($0) }
            first = 0
            bytes = rows.reduce(0) { $0 + ($1.map { RequestMemory.bytes(of: $0) } ?? 0) }
        }
    }

    /// By tenant; nil: strangers, whose key is missing or wrong.
    private var rooms: [TenantID?: Room] = [:]
    /// The newest number of each tenant. A number that all share would tell how much others send.
    private var numbers: [TenantID: Int64] = [:]
    /// How many requests and lines of batches were refused since the process began.
    private(set) var refused: [TenantID?: Int64] = [:]
    /// The bytes of all entries.
    private(set) var bytes = 0

    /// An estimate of an entry's memory.
    static func bytes(of entry: RequestEntry) -> Int {
        entry.lines.reduce(entryBytes + texts(of: entry).reduce(0) { $0 + $1.utf8.count }) {
            sum, line in sum + lineBytes + (line.activity?.rawValue.utf8.count ?? 0)
        }
    }

    /// All texts of an entry that a client may have chosen.
    private static func texts(of entry: RequestEntry) -> [String] {
        let names = [entry.activity?.rawValue, entry.device?.rawValue, entry.key, entry.address]
        return (names + entry.causes.flatMap { [$0.detail, $0.pointer] } + [entry.method])
            .compactMap { $0 }
    }

    /// Keeps an entry, its texts cut, and lets others go for it.
    ///
    /// - Parameter tenant: the tenant of the request's key; nil: a stranger's.
    mutating func keep(_ entry: RequestEntry, of tenant: TenantID?) {
        var entry = entry
        // Strangers are listed among the requests of `main`.
        numbers[tenant ?? .main, default: 0] += 1
        entry.number = numbers[tenant ?? .main] ?? 1
        entry.method = Self.cut(entry.method)
        entry.cause = entry.cause.map(Self.cut)
        entry.activity = entry.activity.flatMap(Self.withoutSecret)
        entry.device = entry.device.flatMap(Self.withoutSecret)
        for index in entry.lines.indices {
            entry.lines[index].cause = Self.cut(entry.lines[index].cause)
            entry.lines[index].activity = entry.lines[index].activity.flatMap(Self.withoutSecret)
        }
        if entry.isRefused { refused[tenant, default: 0] += Int64(max(1, entry.linesRefused)) }
        rooms[tenant, default: Room()].append(entry)
        bytes += Self.bytes(of: entry)
        while rooms[nil]?.bytes ?? 0 > Self.strangersBytesMax { removeOldest(of: nil) }
        while bytes > Self.bytesMax, let largest { removeOldest(of: largest) }
    }

    /// Who holds most bytes; of equals, whose oldest entry is the oldest.
    private var largest: TenantID?? {
        rooms.max { one, other in
            (one.value.bytes, other.value.oldest?.at ?? .distantPast)
                < (other.value.bytes, one.value.oldest?.at ?? .distantPast)
        }?.key
    }

    private mutating func removeOldest(of tenant: TenantID?) {
        let before = rooms[tenant]?.bytes ?? 0
        rooms[tenant]?.removeOldest()
        bytes -= before - (rooms[tenant]?.bytes ?? 0)
        if rooms[tenant]?.oldest == nil { rooms[tenant] = nil }
    }

    /// A tenant's entries that `isAsked` wants, newest first.
    ///
    /// - Parameter withStrangers: true for who operates the relay.
    func listed(
        of tenant: TenantID, withStrangers: Bool, where isAsked: (RequestEntry) -> Bool
    ) -> [RequestEntry] {
        let own = rooms[tenant]?.entries.filter(isAsked) ?? []
        guard withStrangers, let strangers = rooms[nil] else { return own.reversed() }
        return (own + strangers.entries.filter(isAsked)).sorted { $0.number > $1.number }
    }

    /// Forgets what an erasure asks for, among a tenant's own requests or, with nil, those of
    /// strangers, which may name the same things.
    mutating func forget(of tenant: TenantID?, where isGone: (RequestEntry) -> Bool) {
        guard rooms[tenant] != nil else { return }
        rooms[tenant]?.removeAll(where: isGone)
        if rooms[tenant]?.oldest == nil { rooms[tenant] = nil }
        bytes = rooms.values.reduce(0) { $0 + $1.bytes }
    }

    /// True if a text of the entry has one of these ids as a word, or the user's name anywhere.
    ///
    /// It reads bytes: an erasure may look at a megabyte of texts in one turn.
    static func names(_ ids: Set<Substring>, user: String? = nil, in entry: RequestEntry) -> Bool {
        let lines = entry.lines.compactMap { $0.activity?.rawValue }
        return (texts(of: entry) + lines).contains { text in
            if let user, place(of: user, in: text) != nil { return true }
            return text.utf8.split { !Identifier.isAllowed($0) }.contains { word in
                // The end of a sentence is no part of an id, nor is the kind in a token's name.
                [word, trimmed(word)].contains { word in
                    ids.contains(Substring(word))
                        || word.firstIndex(of: UInt8(ascii: ":")).map {
                            ids.contains(Substring(word[word.index(after: $0)...]))
                        } ?? false
                }
            }
        }
    }

    private static func trimmed(_ word: Substring.UTF8View) -> Substring.UTF8View {
        var word = word
        while let last = word.last, last == UInt8(ascii: ".") || last == UInt8(ascii: ":") {
            word.removeLast()
        }
        return word
    }

    /// Where the bytes of `part` are in a text; nil if they are nowhere.
    private static func place(of part: String, in text: String) -> String.Index? {
        let (bytes, part) = (text.utf8, part.utf8)
        guard let first = part.first else { return nil }
        var place = bytes.startIndex
        while let next = bytes[place...].firstIndex(of: first) {
            if bytes[next...].starts(with: part) { return next }
            place = bytes.index(after: next)
        }
        return nil
    }

    /// The id; nil if it looks like a key or a token, which the API allows as an id.
    private static func withoutSecret(_ id: Identifier) -> Identifier? {
        masked(id.rawValue) == id.rawValue ? id : nil
    }

    private static func cut(_ cause: RequestEntry.Cause) -> RequestEntry.Cause {
        var cause = cause
        (cause.detail, cause.pointer) = (cut(cause.detail), cause.pointer.map(cut))
        return cause
    }

    /// The text without secrets, cut at a scalar.
    private static func cut(_ sent: String) -> String {
        let text = masked(prefix(sent, bytes: 4 * textBytesMax))
        return text.utf8.count > textBytesMax ? prefix(text, bytes: textBytesMax) + "…" : text
    }

    private static func prefix(_ text: String, bytes: Int) -> String {
        guard text.utf8.count > bytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: bytes)
        while end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        return String(text[..<end])
    }

    /// The text without what looks like a key or a token, which a client may have put in a wrong
    /// place: of such a word only the beginning is kept.
    static func masked(_ text: String) -> String {
        var (bytes, word): ([UInt8], [UInt8]) = ([], [])
        for byte in text.utf8 {
            let isWord = byte == UInt8(ascii: "_") || isAlphanumeric(byte)
            if isWord {
                word.append(byte)
            } else {
                flush()
                bytes.append(byte)
            }
        }
        flush()
        return String(decoding: bytes, as: UTF8.self)

        func flush() {
            if let kept = secretStart(of: word) {
                bytes += word[..<kept] + Array("…".utf8)
            } else {
                bytes += word
            }
            word = []
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        let character = Character(Unicode.Scalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber)
    }

    /// How many bytes of a word may be kept; nil: it is no secret.
    private static func secretStart(of word: [UInt8]) -> Int? {
        let prefix = Array("tmb_".utf8)
        for start in word.indices where word[start...].starts(with: prefix) {
            // A key has many more; `tmb_live_…` in an answer is none.
            if word.count - start >= prefix.count + keyCharactersMin { return start + prefix.count }
        }
        var run = 0
        for (index, byte) in word.enumerated() {
            run = Character(Unicode.Scalar(byte)).isHexDigit ? run + 1 : 0
            if run == tokenDigitsMin { return index + 1 - run + 8 }
        }
        return nil
    }

    private static let keyCharactersMin = 12
    /// A token has at least 64 digits, an id of 128 bits has 32.
    private static let tokenDigitsMin = 40
}
