package import TomboloJSON

extension JSONWriter {
    /// Writes the members that have a value.
    package mutating func optionals(_ members: [(name: String, value: String?)]) {
        for (name, value) in members { if let value { member(name, value) } }
    }

    /// Writes a member that is an array of objects, each with the members that `write` writes.
    package mutating func objects<Items: Sequence>(
        _ name: String, _ items: Items, _ write: (inout JSONWriter, Items.Element) -> Void
    ) {
        array(name, of: items) { writer, item in writer.object { write(&$0, item) } }
    }
}
