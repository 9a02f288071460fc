import TomboloJSON

extension JSONView {
    /// True if the values are equal. Numbers are compared as doubles. Bundles and keyframes have an
    /// additional member `clip`, which does not matter.
    func isSame(as other: JSONView, besides left: String? = "clip") -> Bool {
        guard kind == other.kind else { return false }
        switch kind {
        case .bool, .null: return raw.elementsEqual(other.raw)
        case .number: return double == other.double
        case .string: return string == other.string
        case .array:
            let (these, those) = (Array(elements), Array(other.elements))
            return these.count == those.count
                && zip(these, those).allSatisfy { $0.isSame(as: $1, besides: left) }
        case .object:
            let members = members.filter { $0.name != left }
            return members.count == other.count
                && members.allSatisfy { name, value in
                    other[name].map { value.isSame(as: $0, besides: left) } ?? false
                }
        }
    }
}
