package import TomboloCore
import TomboloJSON

extension NewFact {
    /// The number of detail facts that a `history.thinned` fact counts.
    ///
    /// - Parameter kinds: only facts of these kinds; nil: all.
    package func leftOut(of kinds: Set<String>? = nil) -> Int64 {
        // Older facts without these members, and damaged ones, count as 0.
        guard let members = (try? JSONDocument(body))?.root["left_out"]?.members else { return 0 }
        return members.reduce(0) { sum, member in
            kinds?.contains(member.name) == false ? sum : sum + (member.value.integer ?? 0)
        }
    }
}
