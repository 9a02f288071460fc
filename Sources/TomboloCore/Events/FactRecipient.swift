package import TomboloJSON

/// Where pushes go. A device and a broadcast channel may have the same name, so the kind matters.
package enum Recipient: Hashable, Comparable, Sendable {
    case device(Identifier)
    case channel(Identifier)

    package var name: Identifier {
        switch self {
        case .device(let name), .channel(let name): name
        }
    }

    package var isChannel: Bool {
        switch self {
        case .device: false
        case .channel: true
        }
    }

    package var member: String { isChannel ? "channel" : "device" }

    /// Reads the member `device`, else `channel`. Returns nil if neither is valid.
    package init?(_ view: JSONView) {
        if let name = view["device"]?.string.flatMap(Identifier.init) {
            self = .device(name)
        } else if let name = view["channel"]?.string.flatMap(Identifier.init) {
            self = .channel(name)
        } else {
            return nil
        }
    }
}

/// Finds the device or channel that a fact is about, from the first bytes of the fact's body.
///
/// The body of a fact about a device begins with `{"device":"`, the device's id and `"`; the body
/// of a fact about a channel begins with `{"channel":"`, its name and `"`. No other fact begins so.
/// JSON escapes no character of an id, so the bytes are the id. All code that writes, finds or
/// erases facts uses this rule.
package enum FactRecipient {
    private static let device: StaticString = "{\"device\":\""
    private static let channel: StaticString = "{\"channel\":\""

    /// Begins a body with the recipient's member; other members may follow.
    package static func body(about recipient: Recipient) -> JSONWriter {
        // Most facts of a push fit.
        var writer = JSONWriter(capacity: 320)
        writer.beginObject()
        writer.member(recipient.member, recipient.name.rawValue)
        return writer
    }

    /// The key by which the log finds the facts of a recipient: a device's id, or `"` and a
    /// channel's name. No id begins with `"`.
    package static func key(_ recipient: Recipient) -> [UInt8] {
        (recipient.isChannel ? [quote] : []) + Array(recipient.name.rawValue.utf8)
    }

    /// The key of the recipient in a body; nil if the fact has no recipient.
    package static func key(in body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        if let start = start(of: device, in: body) { return id(in: body, at: start, keyAt: start) }
        if let start = start(of: channel, in: body) {
            return id(in: body, at: start, keyAt: start - 1)
        }
        return nil
    }

    /// True if the fact with this body is about `recipient`.
    package static func isAbout(_ recipient: Recipient, _ body: [UInt8]) -> Bool {
        body.withUnsafeBytes { isAbout(recipient, $0) }
    }

    /// The same for a body in memory that this process does not own.
    package static func isAbout(_ recipient: Recipient, _ body: UnsafeRawBufferPointer) -> Bool {
        key(in: body)?.elementsEqual(key(recipient)) ?? false
    }

    private static let quote = UInt8(ascii: "\"")

    /// Offset of the id if the body begins with `opening`, else nil.
    @inline(__always)
    private static func start(
        of opening: StaticString, in body: UnsafeRawBufferPointer
    ) -> Int? {
        let start = opening.utf8CodeUnitCount
        // Compared byte by byte, because every stored fact passes through here.
        guard body.count > start + 1 else { return nil }
        for index in 0..<start where body[index] != opening.utf8Start[index] { return nil }
        return start
    }

    private static func id(
        in body: UnsafeRawBufferPointer, at start: Int, keyAt first: Int
    ) -> UnsafeRawBufferPointer? {
        let bound = min(body.count, start + Identifier.bytesMax + 1)
        for end in start..<bound where body[end] == quote {
            return end > start ? UnsafeRawBufferPointer(rebasing: body[first..<end]) : nil
        }
        return nil
    }
}
