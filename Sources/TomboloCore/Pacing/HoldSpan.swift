/// Something that held the change back.
package struct HoldSpan: Hashable, Sendable {
    package var hold: Hold
    /// For how long in all.
    package var span: Span

    package init(hold: Hold, span: Span) {
        self.hold = hold
        self.span = span
    }
}
