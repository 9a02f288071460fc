package import TomboloJSON

/// Which device a fact is about.
///
/// The rule: the body of a fact about a device begins with the bytes `{"device":"`, the device's id
/// and `"`. No other fact is about a device. An id has no character that JSON would escape, so the
/// bytes are the id. Who writes a fact, who looks for it, and who erases it go by this alone.
package enum FactDevice {
    private static let opening: StaticString = "{\"device\":\""

    /// A body that is begun: its first member names the device, others may follow.
    package static func body(about device: Identifier) -> JSONWriter {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("device", device.rawValue)
        return writer
    }

    /// The bytes of the id; nil where the fact is about no device.
    package static func id(in body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let start = opening.utf8CodeUnitCount
        // Byte by byte: each fact that is stored passes here.
        guard body.count > start + 1 else { return nil }
        for index in 0..<start where body[index] != opening.utf8Start[index] { return nil }
        let bound = min(body.count, start + Identifier.bytesMax + 1)
        for end in start..<bound where body[end] == UInt8(ascii: "\"") {
            guard end > start else { return nil }
            return UnsafeRawBufferPointer(rebasing: body[start..<end])
        }
        return nil
    }

    /// Whether the fact is about that device.
    package static func isAbout(_ device: Identifier, _ body: [UInt8]) -> Bool {
        body.withUnsafeBytes { isAbout(device, $0) }
    }

    /// The same for bytes that somebody else keeps.
    package static func isAbout(_ device: Identifier, _ body: UnsafeRawBufferPointer) -> Bool {
        guard let id = id(in: body) else { return false }
        return id.elementsEqual(device.rawValue.utf8)
    }
}
