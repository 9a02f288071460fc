import TomboloJSON

extension Start {
    /// The attributes with the card's name in them, by which the app knows the card.
    ///
    /// - Parameter place: where the type wants the name; `.some(nil)`: it wants none; nil: the type
    ///   is not registered.
    func attributes(
        naming reference: ActivityReference, at place: JSONPointer??
    ) throws(Refusal) -> JSON {
        // For an unregistered type, the name goes to the usual place.
        let pointer: JSONPointer? = place ?? ActivityType.defaultIDAt
        guard let idPointer = pointer else { return attributes }
        let id = JSON.string(reference.text)
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
