package import TomboloCore
import TomboloJSON

extension NewFact {
    /// The number of facts that the relay did not keep, from a `history.thinned` fact.
    ///
    /// - Parameter kinds: count only facts of these kinds; nil: all.
    package func leftOut(of kinds: Set<String>? = nil) -> Int64 {
        // Older facts lack this member, and damaged ones cannot be read: they count as 0.
        guard let members = (try? JSONDocument(body))?.root["left_out"]?.members else { return 0 }
        return members.reduce(0) { sum, member in
            kinds?.contains(member.name) == false ? sum : sum + (member.value.integer ?? 0)
        }
    }
}
