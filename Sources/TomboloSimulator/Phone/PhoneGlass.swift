/// The screen of a phone: its size, the edge of the Control Center, and what an app concludes from
/// touches there.
///
/// An app gets "will resign active" both when the Control Center opens and when the user leaves the
/// app. It tells them apart by a recent touch at the edge, which arms the detection for a short
/// time.
package struct PhoneGlass: Hashable, Sendable {
    /// The edge from which the Control Center is pulled.
    package enum Edge: String, CaseIterable, Hashable, Sendable {
        /// Phones with a home button.
        case bottom
        case topRight = "top_right"
    }

    /// A position on the screen, in points from the top left.
    package struct Point: Hashable, Sendable {
        package var x: Double
        package var y: Double

        /// The values are not checked: a position outside of the screen is at no edge.
        package init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
    }

    /// Size in points, as of most phones since 2020.
    package static let width = 390.0
    package static let height = 844.0
    /// How long a touch at the edge arms the detection (exclusive).
    package static let window: Duration = .milliseconds(500)
    /// The same without a status bar, where only the second pull opens the Control Center.
    package static let windowWithoutStatusBar: Duration = .milliseconds(2_750)

    package let edge: Edge
    package internal(set) var isStatusBarHidden = false
    private var armedAt: WallInstant?

    init(edge: Edge) { self.edge = edge }

    /// True if the Control Center is pulled from this position.
    package func isAtEdge(_ point: Point) -> Bool {
        switch edge {
        case .bottom: point.y >= 0.9 * Self.height
        case .topRight: point.y <= 0.1 * Self.height && point.x >= 0.5 * Self.width
        }
    }

    /// A touch begins. A touch elsewhere does not change the state.
    mutating func touch(_ point: Point, at now: WallInstant) {
        if isAtEdge(point) { armedAt = now }
    }

    /// A pull that begins at the edge. Returns true if it opens the Control Center.
    mutating func pull(at now: WallInstant) -> Bool {
        let hasHandle = isArmed(at: now)
        armedAt = now
        return !isStatusBarHidden || hasHandle
    }

    /// True if an app that resigns active now concludes that the Control Center covers it.
    package func isArmed(at now: WallInstant) -> Bool {
        guard let armedAt, now >= armedAt else { return false }
        return now - armedAt < (isStatusBarHidden ? Self.windowWithoutStatusBar : Self.window)
    }
}
