package import TomboloJSON

/// Whom pushes are for. Devices and broadcast channels have names of their own: one of each may
/// have the same name.
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

    /// The member of a JSON object that has its name.
    package var member: String { isChannel ? "channel" : "device" }

    /// Reads it from the first of the two members; nil where neither is there.
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

/// Which device or channel a fact is about.
///
/// The rule: the body of a fact about a device begins with the bytes `{"device":"`, the device's id
/// and `"`; about a channel it begins with `{"channel":"` in the same way. No other fact is about
/// one. An id has no character that JSON would escape, so the bytes are the id. Code that writes a
/// fact, looks for it or erases it uses this rule alone.
package enum FactRecipient {
    private static let device: StaticString = "{\"device\":\""
    private static let channel: StaticString = "{\"channel\":\""

    /// A body that is begun: its first member names the recipient, others may follow.
    package static func body(about recipient: Recipient) -> JSONWriter {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member(recipient.member, recipient.name.rawValue)
        return writer
    }

    /// The bytes by which facts about a recipient are found: a device's id, or a `"` and the
    /// channel's name. No id begins with a `"`.
    package static func key(_ recipient: Recipient) -> [UInt8] {
        (recipient.isChannel ? [quote] : []) + Array(recipient.name.rawValue.utf8)
    }

    /// The same bytes of the recipient that a fact is about; nil where it is about none.
    package static func key(in body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        if let start = start(of: device, in: body) { return id(in: body, at: start, keyAt: start) }
        if let start = start(of: channel, in: body) {
            return id(in: body, at: start, keyAt: start - 1)
        }
        return nil
    }

    /// Whether the fact is about that recipient.
    package static func isAbout(_ recipient: Recipient, _ body: [UInt8]) -> Bool {
        body.withUnsafeBytes { isAbout(recipient, $0) }
    }

    /// The same for bytes that somebody else keeps.
    package static func isAbout(_ recipient: Recipient, _ body: UnsafeRawBufferPointer) -> Bool {
        key(in: body)?.elementsEqual(key(recipient)) ?? false
    }

    private static let quote = UInt8(ascii: "\"")

    /// Where the id begins.
    @inline(__always)
    private static func start(
        of opening: StaticString, in body: UnsafeRawBufferPointer
    ) -> Int? {
        let start = opening.utf8CodeUnitCount
        // Byte by byte: each fact that is stored passes here.
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
