/// Tells an opened Control Center from an app that is left: "will resign active" is sent for both.
///
/// A touch that begins at the edge from which the Control Center is pulled opens a time window: an
/// app that resigns within it is only covered. Pure: takes the device's own times.
package struct PresenceClassifier: Hashable, Sendable {
    /// The edge from which the Control Center is pulled.
    package enum Edge: UInt8, Hashable, Sendable {
        /// Phones with a home button.
        case bottom
        case topRight
    }

    /// From a touch at the edge up to, but not including, the window's end.
    package static let window = Span.milliseconds(500)
    /// The window of a full-screen app, where the handle needs two pulls.
    package static let windowWithoutStatusBar = Span.milliseconds(2_750)
    /// The lowest tenth of the screen, its upper edge included.
    package static let bottomEdge = 0.9
    /// The highest tenth of the right half, edges included.
    package static let topEdge = 0.1
    package static let rightHalf = 0.5

    private var edge: Edge
    private var armedAt: Instant?
    private var isStatusBarHidden = false

    package init(edge: Edge) { self.edge = edge }

    /// Sets the edge that the device has registered.
    package mutating func setEdge(_ edge: Edge) { self.edge = edge }

    /// The phase that a signal shows; nil if it shows none.
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
