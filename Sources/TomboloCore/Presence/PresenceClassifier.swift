/// Distinguishes an opened Control Center from an app that is left: iOS sends "will resign active"
/// in both cases. A touch at the edge from which the Control Center is pulled begins a time window.
/// An app that becomes inactive within it is only covered. All times are the device's.
package struct PresenceClassifier: Hashable, Sendable {
    /// The edge of the screen from which the Control Center is pulled.
    package enum Edge: UInt8, Hashable, Sendable {
        /// On phones with a home button.
        case bottom
        case topRight
    }

    /// Length of the window from a touch at the edge; its end does not count.
    package static let window = Span.milliseconds(500)
    /// The same for an app in full screen, in which the user must pull twice.
    package static let windowWithoutStatusBar = Span.milliseconds(2_750)
    /// A touch at or below this part of the height is at the bottom edge.
    package static let bottomEdge = 0.9
    /// A touch at or above this part of the height, in the right half, is at the top right edge.
    package static let topEdge = 0.1
    package static let rightHalf = 0.5

    private var edge: Edge
    private var armedAt: Instant?
    private var isStatusBarHidden = false

    package init(edge: Edge) { self.edge = edge }

    /// Sets the edge that the device has registered.
    package mutating func setEdge(_ edge: Edge) { self.edge = edge }

    /// The phase that follows from a signal; nil if none does.
    package mutating func classify(
        _ signal: PresenceSignal, at instant: Instant
    ) -> (phase: PresenceReport.Phase, cause: PresenceReport.Cause?)? {
        if let hidden = signal.statusBarHidden { isStatusBarHidden = hidden }
        switch signal.kind {
        case .touch(let x, let y):
            if isAtEdge(x: x, y: y) { armedAt = instant }
            return nil
        case .willResignActive: return (.inactive, isArmed(at: instant) ? .controlCenter : nil)
        case .didBecomeActive: return (.active, nil)
        case .didEnterBackground: return (.background, nil)
        case .statusBar: return nil
        }
    }

    private func isAtEdge(x: Double, y: Double) -> Bool {
        switch edge {
        case .bottom: y >= Self.bottomEdge
        case .topRight: y <= Self.topEdge && x >= Self.rightHalf
        }
    }

    private func isArmed(at instant: Instant) -> Bool {
        guard let armedAt else { return false }
        let length = isStatusBarHidden ? Self.windowWithoutStatusBar : Self.window
        return instant >= armedAt && instant - armedAt < length
    }
}
