import CProtocolAssets
import TomboloHTTP
import TomboloJSON

/// `Protocol/openapi.json` with the files of `Protocol/schemas/` inlined: one document without
/// outside references. It is made once, in a few milliseconds, from the compiled-in files.
enum APIDescription {
    /// Made once and shared by all answers. Copies of 100 kB would take 12 MB per connection.
    static let bytes: [UInt8] = {
        var writer = JSONWriter()
        write(root(tombolo_protocol_openapi()), to: &writer)
        return writer.bytes
    }()

    /// The document compressed with gzip; nil if that makes it no shorter.
    static let gzip = GzipBytes.compress(bytes)

    /// The `summary` of a route in the API description; nil if it has none.
    static func summary(_ operation: Operation) -> String? { summaries[operation.rawValue] }

    private static let summaries: [String: String] = {
        let paths = root(tombolo_protocol_openapi())["paths"]
        var summaries: [String: String] = [:]
        for (_, methods) in paths.map({ $0.members.map { $0 } }) ?? [] {
            for (_, route) in methods.members {
                guard let id = route["operationId"]?.string else { continue }
                summaries[id] = route["summary"]?.string
            }
        }
        return summaries
    }()

    private static let schemas = root(tombolo_protocol_schemas())

    private static func root(_ asset: tombolo_protocol_asset) -> JSONView {
        let bytes = Array(UnsafeBufferPointer(start: asset.bytes, count: asset.count))
        // A compiled-in file of this repository, which the tests parse.
        return JSON(unchecked: bytes).document.root
    }

    private static func write(_ view: JSONView, to writer: inout JSONWriter) {
        switch view.kind {
        case .object:
            let schema = view["$ref"]?.string.flatMap { target -> JSONView? in
                guard target.hasPrefix("schemas/") else { return nil }
                let file = target.dropFirst("schemas/".count)
                return schemas.elements.first { $0["$id"]?.string.map { $0 == file } ?? false }
            }
            writer.beginObject()
            for (name, value) in (schema ?? view).members {
                // Leave out the schema's own name and title: here the schema's key is its name.
                if schema != nil, ["$schema", "$id", "title"].contains(name) { continue }
                writer.name(name)
                // Schema files refer to each other by file name; here they are components.
                if name == "$ref", let file = value.string, file.hasSuffix(".json") {
                    writer.string("#/components/schemas/\(file.dropLast(5))")
                } else {
                    write(value, to: &writer)
                }
            }
            writer.endObject()
        case .array:
            writer.array(of: view.elements) { write($1, to: &$0) }
        case .string, .number, .bool, .null: writer.raw(view.raw)
        }
    }
}
