/// An enum whose raw value is its name in answers, rows of the log and metrics.
package protocol Named: RawRepresentable<String> {}

extension Named {
    package var name: String { rawValue }

    /// Finds the case with this name. Returns nil for other names.
    package init?(name: String) { self.init(rawValue: name) }
}
