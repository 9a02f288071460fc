extension Command.Expectation {
    /// Throws if `version` is not an expected version. `absent` is checked elsewhere.
    func check(_ version: Int64) throws(Refusal) {
        guard case .versions(let expected) = self, !expected.contains(version) else { return }
        let list = expected.map(String.init).joined(separator: " or ")
        throw Refusal(
            .preconditionFailed,
            "the activity is at version \(version), not \(list); read it again, and check the change against it",
            version: version)
    }
}
