import TomboloJSON

// A phone's app reports the value that it has decoded, not the text that it got. The value is the
// same by the rules of the app's program, though its text is another one.

extension StateSchema {
    /// True if an app that was sent `sent` reports `reported`.
    ///
    /// Swift's Codable gives a UUID back in upper case, leaves out the `null` of an optional and
    /// members that the type does not have, adds the default of a member that was not sent, and
    /// rounds a number that is a `Float`. A reported value without a schema may differ in the same
    /// ways, but must have all members.
    static func isGivenBack(
        _ reported: JSONView, for sent: JSONView, by schema: StateSchema?
    ) -> Bool {
        switch (reported.kind, sent.kind) {
        case (.object, .object): areSame(reported, sent, schema)
        case (.array, .array):
            reported.count == sent.count
                && zip(reported.elements, sent.elements).allSatisfy {
                    isGivenBack($0, for: $1, by: schema?.items.first)
                }
        case (.number, .number):
            reported.canonical == sent.canonical
                || schema?.kinds != [.integer] && isSameDouble(reported, sent)
        case (.string, .string):
            reported.string == sent.string
                || (schema?.isUUID ?? true) && isSameUUID(reported.string, sent.string)
        default: reported.canonical == sent.canonical
        }
    }

    private static func areSame(
        _ reported: JSONView, _ sent: JSONView, _ schema: StateSchema?
    ) -> Bool {
        func values(_ view: JSONView) -> [String: JSONView] {
            let pairs = view.members.filter { !$0.value.isNull }.map { ($0.name, $0.value) }
            return Dictionary(pairs) { $1 }
        }
        let (reported, sent) = (values(reported), values(sent))
        // A type that names no members is a dictionary: the app has all of them.
        let dropsOthers = schema?.properties.isEmpty == false
        for (name, value) in sent {
            guard let own = reported[name] else {
                guard dropsOthers, schema?[name] == nil else { return false }
                continue
            }
            guard isGivenBack(own, for: value, by: schema?[name]) else { return false }
        }
        return reported.allSatisfy { name, value in
            if sent[name] != nil { return true }
            guard let known = schema?[name], let fallback = known.fallback else { return false }
            return isGivenBack(value, for: fallback.document.root, by: known)
        }
    }

    /// True if the numbers are one `Double`, or if `reported` is the `Float` next to `sent`.
    private static func isSameDouble(_ reported: JSONView, _ sent: JSONView) -> Bool {
        guard let one = reported.double, let other = sent.double else { return false }
        // Each whole number that a Float holds is itself; a larger one has others beside it.
        return one == other || sent.integer == nil && one == Double(Float(other))
    }

    private static func isSameUUID(_ reported: String?, _ sent: String?) -> Bool {
        guard let reported, let sent, isUUID(sent) else { return false }
        return reported == sent.uppercased()
    }
}
