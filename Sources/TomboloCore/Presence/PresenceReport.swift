/// Whether an app is in front on a device, as the device reports it: the phase itself, or the raw
/// signals from which `PresenceClassifier` finds the phase.
package struct PresenceReport: Hashable, Sendable {
    /// `UIApplication.State`.
    package enum Phase: UInt8, Hashable, Sendable, CaseIterable {
        case active, inactive, background

        package var name: String {
            switch self {
            case .active: "active"
            case .inactive: "inactive"
            case .background: "background"
            }
        }
    }

    /// Nil if the signals give it.
    package var phase: Phase?
    /// Why the app became inactive, if the device knows: it is believed.
    package var cause: Cause?
    package var at: Instant?
    package var signals: [PresenceSignal] = []

    /// What can cover an app that is not left.
    package enum Cause: Hashable, Sendable {
        case controlCenter
        /// Any other cause: the app is being left.
        case other(String)

        package var name: String {
            switch self {
            case .controlCenter: "control_center"
            case .other(let name): name
            }
        }
    }

    package init(phase: Phase?, cause: Cause? = nil, at: Instant? = nil) {
        self.phase = phase
        self.cause = cause
        self.at = at
    }
}

/// One raw signal of a device, with the device's own time.
package struct PresenceSignal: Hashable, Sendable {
    /// What happened.
    package enum Kind: Hashable, Sendable {
        /// Where a touch began, as parts of the screen: 0 is left and top, 1 right and bottom.
        case touch(x: Double, y: Double)
        case willResignActive, didBecomeActive, didEnterBackground
        /// Only the status bar has changed.
        case statusBar
    }

    package var kind: Kind
    package var at: Instant?
    /// Whether the status bar is hidden from now on; nil if the signal does not say.
    package var statusBarHidden: Bool?

    /// No screen has more points on a side.
    static let pointsMax = 1_000_000.0

    package init(_ kind: Kind, at: Instant?, statusBarHidden: Bool? = nil) {
        self.kind = kind
        self.at = at
        self.statusBarHidden = statusBarHidden
    }
}

extension PresenceSignal.Kind {
    /// A touch by its place on a screen in points, which has at least 1 on a side.
    static func part(
        _ x: Double, _ y: Double, ofWidth width: Double, height: Double
    ) -> Self {
        .touch(x: x / width, y: y / height)
    }
}

extension PresenceReport {
    /// The signals by their times. A signal without a time has the report's, or `wall`.
    func inOrder(wall: Instant) -> [(PresenceSignal, Instant)] {
        let timed = signals.map { ($0, $0.at ?? at ?? wall) }
        return timed.enumerated().sorted {
            ($0.element.1, $0.offset) < ($1.element.1, $1.offset)
        }.map(\.element)
    }
}
