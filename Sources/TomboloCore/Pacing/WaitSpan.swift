/// One wait reason of a change, and how long it lasted.
package struct WaitSpan: Hashable, Sendable {
    package var reason: WaitReason
    /// How long the change has waited for this reason in all.
    package var span: Span
}
