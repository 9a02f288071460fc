extension Command.Expectation {
    /// Throws if the activity has another version than the expected ones.
    func check(_ version: Int64) throws(Refusal) {
        guard case .versions(let expected) = self, !expected.contains(version) else { return }
        let list = expected.map(String.init).joined(separator: " or ")
        throw Refusal(
            .preconditionFailed,
            "the activity is at version \(version), not \(list); read it again and decide anew",
            version: version)
    }
}
