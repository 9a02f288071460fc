extension JSONView {
    /// The value without comments and white space. All scalars keep their bytes.
    var bytesWithoutComments: [UInt8] {
        var writer = JSONWriter(capacity: raw.count)
        write(into: &writer)
        return writer.bytes
    }

    private func write(into writer: inout JSONWriter) {
        switch entry.kind {
        case .object:
            writer.beginObject()
            for (name, value) in members {
                writer.named(name) { value.write(into: &$0) }
            }
            writer.endObject()
        case .array:
            writer.beginArray()
            for element in elements { element.write(into: &writer) }
            writer.endArray()
        default:
            writer.raw(raw)
        }
    }
}
