/// A device's report about its app: either the phase, or signals from which `PresenceClassifier`
/// finds the phase.
package struct PresenceReport: Hashable, Sendable {
    /// The state of the app, as `UIApplication.State`.
    package enum Phase: String, Named, Sendable, CaseIterable {
        case active, inactive, background
    }

    /// nil if there are signals instead.
    package var phase: Phase?
    /// Why the app became inactive, if the device knows it.
    package var cause: Cause?
    package var at: Instant?
    package var signals: [PresenceSignal] = []

    /// Why an app becomes inactive.
    package enum Cause: Hashable, Sendable {
        case controlCenter
        /// Any other cause: the user leaves the app.
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

/// One signal of a device, with the device's own time.
package struct PresenceSignal: Hashable, Sendable {
    /// What happened.
    package enum Kind: Hashable, Sendable {
        /// Where a touch began, as parts of the screen: (0, 0) is its top left, (1, 1) its bottom
        /// right.
        case touch(x: Double, y: Double)
        case willResignActive, didBecomeActive, didEnterBackground
        /// The status bar was shown or hidden.
        case statusBar
    }

    package var kind: Kind
    package var at: Instant?
    /// Whether the status bar is hidden from now on; nil: unchanged.
    package var statusBarHidden: Bool?

    /// Maximum of coordinates and sizes, more than any screen has.
    static let pointsMax = 1_000_000.0

    package init(_ kind: Kind, at: Instant?, statusBarHidden: Bool? = nil) {
        self.kind = kind
        self.at = at
        self.statusBarHidden = statusBarHidden
    }
}

extension PresenceSignal.Kind {
    /// A touch at a place on a screen of this size, both in points. The size is at least 1.
    static func part(
        _ x: Double, _ y: Double, ofWidth width: Double, height: Double
    ) -> Self {
        .touch(x: x / width, y: y / height)
    }
}

extension PresenceReport {
    /// The signals in the order of their times. One without a time gets the report's, or else
    /// `wall`.
    func inOrder(wall: Instant) -> [(PresenceSignal, Instant)] {
        let timed = signals.map { ($0, $0.at ?? at ?? wall) }
        return timed.enumerated().sorted {
            ($0.element.1, $0.offset) < ($1.element.1, $1.offset)
        }.map(\.element)
    }
}
