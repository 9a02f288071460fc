/// The glass of a phone: its size, where the Control Center is pulled from, and what the app makes
/// of touches that begin there.
///
/// "Will resign active" is sent for a Control Center and for an app that is left. The app tells them
/// apart by the touch before: one that begins at the edge arms for a while.
package struct PhoneGlass: Hashable, Sendable {
    /// Where a phone has its Control Center.
    package enum Edge: String, CaseIterable, Hashable, Sendable {
        /// Phones with a home button.
        case bottom
        case topRight = "top_right"
    }

    /// A place on the glass, in points from the top left.
    package struct Point: Hashable, Sendable {
        package var x: Double
        package var y: Double

        /// Neither is checked: a place outside of the glass is at no edge.
        package init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
    }

    /// Points, as those of most phones since 2020.
    package static let width = 390.0
    package static let height = 844.0
    /// From a touch at the edge up to, but not at, its end.
    package static let window: Duration = .milliseconds(500)
    /// Without a status bar the first pull only shows the handle, and the second opens.
    package static let windowWithoutStatusBar: Duration = .milliseconds(2_750)

    package let edge: Edge
    package internal(set) var isStatusBarHidden = false
    private var armedAt: WallInstant?

    init(edge: Edge) { self.edge = edge }

    /// Whether the Control Center is pulled from this place.
    package func isAtEdge(_ point: Point) -> Bool {
        switch edge {
        case .bottom: point.y >= 0.9 * Self.height
        case .topRight: point.y <= 0.1 * Self.height && point.x >= 0.5 * Self.width
        }
    }

    /// A touch begins. One elsewhere arms nothing, and disarms nothing.
    mutating func touch(_ point: Point, at now: WallInstant) {
        if isAtEdge(point) { armedAt = now }
    }

    /// A pull at the edge, which begins with a touch there; true where it opens the Control Center.
    mutating func pull(at now: WallInstant) -> Bool {
        let hasHandle = isArmed(at: now)
        armedAt = now
        return !isStatusBarHidden || hasHandle
    }

    /// Whether an app that resigns now was covered only, by what it knows.
    package func isArmed(at now: WallInstant) -> Bool {
        guard let armedAt, now >= armedAt else { return false }
        return now - armedAt < (isStatusBarHidden ? Self.windowWithoutStatusBar : Self.window)
    }
}
