/// One wait reason of a change, and how long it lasted.
package struct HoldSpan: Hashable, Sendable {
    package var hold: Hold
    /// How long the change has waited for this reason in all.
    package var span: Span

    package init(hold: Hold, span: Span) {
        self.hold = hold
        self.span = span
    }
}
