package import TomboloCore

// What a test requires of a result: the payload of its case, or nil.

extension Answer {
    package var accepted: Accepted? {
        if case .accepted(let accepted) = self { accepted } else { nil }
    }

    package var acceptedAll: [Accepted]? {
        if case .acceptedAll(let all) = self { all } else { nil }
    }

    package var refusal: Refusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}
