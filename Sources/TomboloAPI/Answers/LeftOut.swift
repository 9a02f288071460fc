package import TomboloCore
import TomboloJSON

extension NewFact {
    /// How many facts of detail a `history.thinned` counts.
    ///
    /// - Parameter kinds: only facts of these kinds; nil: all.
    package func leftOut(of kinds: Set<String>? = nil) -> Int64 {
        // Facts of before, or damaged ones, count nothing.
        guard let members = (try? JSONDocument(body))?.root["left_out"]?.members else { return 0 }
        return members.reduce(0) { sum, member in
            kinds?.contains(member.name) == false ? sum : sum + (member.value.integer ?? 0)
        }
    }
}
