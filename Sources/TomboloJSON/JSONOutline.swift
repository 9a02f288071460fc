/// Where an object's members are in its text. It is made once, so that members can be read without
/// a scan.
package struct JSONOutline: Hashable, Sendable {
    /// Where a value is in the text of an enclosing value.
    package struct Place: Hashable, Sendable {
        fileprivate let start: UInt32
        fileprivate let end: UInt32
    }

    /// A member's name, and where its value is.
    package struct Member: Hashable, Sendable {
        package let name: String
        package let place: Place
    }

    /// Members in the order of the text.
    package let members: [Member]

    /// - Parameters:
    ///   - object: the object. A value of another kind has no members.
    ///   - whole: the value whose `json` is read later: `object` itself or an enclosing value. Its
    /// document must not allow comments, because `json` removes them, which moves all places.
    package init(of object: JSONView, in whole: JSONView) {
        precondition(!whole.document.comments, "an outline of a text with comments")
        let start = whole.entry.start
        members = object.members.map { name, value in
            let (first, end) = (value.entry.start - start, value.entry.end - start)
            return Member(name: name, place: Place(start: first, end: end))
        }
    }

    /// The member with this name; nil if there is none.
    package subscript(_ name: String) -> Place? {
        members.first { $0.name == name }?.place
    }
}

extension JSON {
    /// The part of this value at a place, which must have been found in this value.
    package func value(at place: JSONOutline.Place) -> JSON {
        JSON(unchecked: Array(bytes[Int(place.start)..<Int(place.end)]))
    }
}
