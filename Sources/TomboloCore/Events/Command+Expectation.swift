extension Command.Expectation {
    /// Refused where the activity is at another version than the one that is expected.
    func check(_ version: Int64) throws(Refusal) {
        guard case .version(let expected) = self, expected != version else { return }
        throw Refusal(
            .preconditionFailed,
            "the activity is at version \(version), not \(expected); read it again and decide anew",
            version: version)
    }
}
