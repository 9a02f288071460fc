@testable import TomboloJSON

/// Any bytes as a JSON text: refused, or read, walked and changed. Traps where a rule is broken.
///
/// Run by `deploy/fuzz json` with bytes of the fuzzer's choice, by a test with those that it kept.
func fuzzJSON(_ bytes: [UInt8]) {
    // A refusal is what most bytes deserve.
    guard let value = try? JSON(validating: bytes) else { return }
    let root = value.document.root
    walk(root)
    // What was accepted once is accepted again, and a patch with itself changes no value's kind.
    let merged = value.mergePatched(with: value)
    // Refused or not is all that matters here.
    guard let again = try? JSON(validating: merged.bytes) else {
        preconditionFailure("a merge patch made what is no JSON")
    }
    precondition(again.document.root.kind == root.kind, "a merge patch changed the root's kind")
}

private func walk(_ view: JSONView) {
    _ = (view.string, view.bool, view.integer, view.double, view.position)
    precondition(!view.raw.isEmpty, "a value without bytes")
    switch view.kind {
    case .object:
        var count = 0
        for member in view.members {
            count += 1
            precondition(view[member.name]?.raw == member.value.raw, "a member is not found")
            walk(member.value)
        }
        precondition(count == view.count, "members are not counted")
    case .array:
        for element in view.elements { walk(element) }
    default: break
    }
}
