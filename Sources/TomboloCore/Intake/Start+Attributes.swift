import TomboloJSON

extension Start {
    /// The attributes with the relay's id of the activity in place.
    ///
    /// - Parameter place: where the type wants it, or that it wants none; nil where no type is
    ///   registered.
    func attributes(
        naming reference: ActivityReference, at place: JSONPointer??
    ) throws(Refusal) -> JSON {
        // A type may say where, or that the app wants none; unregistered, it is the usual place.
        let pointer: JSONPointer? = place ?? ActivityType.defaultIDAt
        guard let idPointer = pointer else { return attributes }
        var writer = JSONWriter()
        writer.string(reference.text)
        let id = JSON(unchecked: writer.bytes)
        if let present = attributes.document.root.at(idPointer) {
            if present.string == reference.text { return attributes }
            let message = "is the relay's: leave it out, or write \"\(reference.text)\""
            let pointer = "/attributes\(idPointer)"
            throw Refusal(
                .invalidField, "\(pointer) \(message)",
                errors: [FieldError(pointer: pointer, message: message)])
        }
        guard let named = attributes.setting(idPointer, to: id) else {
            let message = "the type's id_at is \(idPointer), and its parent is not there"
            throw Refusal(
                .invalidField, "attributes: \(message)",
                errors: [FieldError(pointer: "/attributes", message: message)])
        }
        return named
    }
}
