/// A wait reason that delayed a change.
package struct HoldSpan: Hashable, Sendable {
    package var hold: Hold
    /// The whole time for which it delayed the change.
    package var span: Span

    package init(hold: Hold, span: Span) {
        self.hold = hold
        self.span = span
    }
}
