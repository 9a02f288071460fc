import TomboloJSON

/// Tells whether the user is in the app, from its scene phases and touches.
///
/// An app resigns active both when the Control Center covers it and when the user leaves it. A
/// recent touch at the edge from which the Control Center is pulled means the Control Center.
public struct ScenePresence: Hashable, Sendable {
    /// SwiftUI's `ScenePhase`.
    public enum Phase: String, Hashable, Sendable {
        case active, inactive, background
    }

    /// The edge from which the Control Center is pulled.
    public enum Edge: String, Hashable, Sendable {
        /// Phones with a home button.
        case bottom
        case topRight = "top_right"
    }

    /// How long a touch at the edge counts as the pull (exclusive).
    public static let window: Duration = .milliseconds(500)
    /// The same if the status bar is hidden, as then only the second pull opens the Control Center.
    public static let windowWithoutStatusBar: Duration = .milliseconds(2_750)
    /// Fraction of the screen's height, at the top or bottom, that counts as the edge.
    public static let edgeHeight = 0.1

    private let edge: Edge?
    private var isStatusBarHidden = false
    private var touchedEdgeAt: Duration?

    /// - Parameter edge: nil if the app does not recognise the Control Center.
    public init(edge: Edge?) { self.edge = edge }

    /// The app shows or hides the status bar.
    public mutating func setStatusBar(hidden: Bool) { isStatusBarHidden = hidden }

    /// A touch begins. Its place is a fraction of the screen's width and height from the top left,
    /// each from 0 to 1. It matters only at the edge.
    public mutating func touch(x: Double, y: Double, at now: Duration) {
        let isAtEdge =
            switch edge {
            case .bottom: y >= 1 - Self.edgeHeight
            case .topRight: y <= Self.edgeHeight && x >= 0.5
            case nil: false
            }
        if isAtEdge { touchedEdgeAt = now }
    }

    /// How a scene phase is reported. `cause` is `control_center` or nil.
    public func report(_ phase: Phase, at now: Duration) -> (phase: Phase, cause: String?) {
        guard phase == .inactive, let touchedEdgeAt, now >= touchedEdgeAt else {
            return (phase, nil)
        }
        let window = isStatusBarHidden ? Self.windowWithoutStatusBar : Self.window
        return (phase, now - touchedEdgeAt < window ? "control_center" : nil)
    }

    /// The body of `PUT /v1/devices/ID/presence`.
    func body(_ phase: Phase, app: String, time: String, at now: Duration) -> [UInt8] {
        let (phase, cause) = report(phase, at: now)
        return JSONWriter.objectBytes { body in
            body.member("app", app)
            body.member("phase", phase.rawValue)
            if let cause { body.member("cause", cause) }
            body.member("at", time)
        }
    }
}
