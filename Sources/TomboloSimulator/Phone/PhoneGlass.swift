/// The screen of a phone: its size, the edge from which the Control Center is pulled, and the
/// handle. If the status bar is hidden, the first pull shows this handle for a short time.
package struct PhoneGlass: Hashable, Sendable {
    /// The edge from which the Control Center is pulled.
    package enum Edge: String, CaseIterable, Hashable, Sendable {
        /// Phones with a home button.
        case bottom
        case topRight = "top_right"
    }

    /// A position, in points from the top left. One outside of the screen counts as any other.
    package struct Point: Hashable, Sendable {
        package var x: Double
        package var y: Double
    }

    /// Size in points, as on most phones since 2020.
    package static let width = 390.0
    package static let height = 844.0
    /// How long a touch at the edge shows the handle (exclusive).
    package static let handleTime: Duration = .milliseconds(2_750)

    package let edge: Edge
    package internal(set) var isStatusBarHidden = false
    private var touchedEdgeAt: WallInstant?

    init(edge: Edge) { self.edge = edge }

    /// True if the Control Center is pulled from this position.
    package func isAtEdge(_ point: Point) -> Bool {
        switch edge {
        case .bottom: point.y >= 0.9 * Self.height
        case .topRight: point.y <= 0.1 * Self.height && point.x >= 0.5 * Self.width
        }
    }

    /// A position at the edge.
    var edgePoint: Point {
        edge == .bottom ? Point(x: Self.width / 2, y: Self.height) : Point(x: Self.width, y: 0)
    }

    /// A touch begins. It matters only at the edge.
    mutating func touch(_ point: Point, at now: WallInstant) {
        if isAtEdge(point) { touchedEdgeAt = now }
    }

    /// A pull that begins at the edge. Returns true if it opens the Control Center.
    mutating func pull(at now: WallInstant) -> Bool {
        defer { touchedEdgeAt = now }
        guard isStatusBarHidden else { return true }
        guard let touchedEdgeAt, now >= touchedEdgeAt else { return false }
        return now - touchedEdgeAt < Self.handleTime
    }
}
