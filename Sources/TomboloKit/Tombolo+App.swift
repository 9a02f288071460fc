#if canImport(ActivityKit) && !targetEnvironment(macCatalyst)
public import ActivityKit
public import Foundation
public import TomboloContract
public import TomboloWidgets
internal import WidgetKit

extension Tombolo {
    /// The runner of this process; nil until `configure`.
    @MainActor private(set) static var runner: AppRunner?

    /// Begins to upload. Call it once in `application(_:didFinishLaunchingWithOptions:)`, at each
    /// launch, also in the background, and call `observe` for each type in the same turn.
    ///
    /// - Parameters:
    ///   - relay: the relay's origin, such as `https://relay.example.com`.
    ///   - device: one id for each installation. Keep none of your own in `UserDefaults`: that is
    ///     empty at a launch before the first unlock.
    ///   - controlCenter: the edge of the Control Center's pull, if the app calls `touch`.
    ///   - key: asks the app's backend for the device's key: at first, and when the relay refuses
    ///     the one before. It throws while nobody is signed in.
    @available(iOSApplicationExtension, unavailable, message: "the app calls it")
    @MainActor public static func configure(
        relay: URL, device: String = installation, controlCenter: ScenePresence.Edge? = nil,
        key: @escaping @Sendable () async throws -> String
    ) {
        guard runner == nil else { return }
        Connection(relay: relay, device: device).save()
        let runner = AppRunner(device: device, controlCenter: controlCenter, key: key)
        self.runner = runner
        _ = BackgroundUploads.session
        // After the calls of `observe` in this turn.
        Task { await runner.launch() }
    }

    /// Observes the cards of a type: their tokens, states and ends.
    ///
    /// - Parameter name: the attribute that has the relay's name of the card.
    @MainActor public static func observe<A: ActivityAttributes & SendableMetatype>(
        _ type: A.Type, name: @escaping @MainActor (A) -> String?
    ) {
        runner.map { $0.add(TypeObserver<A>($0, name: name)) }
    }

    /// Somebody has signed in: asks for the key now.
    @MainActor public static func signIn() async { await runner?.askForKey() }

    /// A touch began: the relay tells the Control Center from leaving the app. Call it from your
    /// window's `sendEvent(_:)`, for touches that begin.
    ///
    /// - Parameters:
    ///   - x: the place as a fraction of the window's width, from the left.
    ///   - y: the same of its height, from the top.
    @MainActor public static func touch(x: Double, y: Double, statusBarHidden: Bool) {
        runner?.note(.statusBar(hidden: statusBarHidden))
        runner?.note(.touch(x: x, y: y))
    }

    /// Ends the cards of the user, and sends nothing more until the next key. Let your backend
    /// delete the key and forget the device's user before it makes the next one.
    @MainActor public static func signOut() { runner?.handle(.signedOut) }

    /// The user has edited what a widget shows: saves it, then reloads the widget.
    ///
    /// - Parameter save: tells the app's backend, which puts the widget's timeline.
    public static func edited(kind: String, save: () async throws -> Void) async throws {
        try await save()
        WidgetCenter.shared.reloadTimelines(ofKind: kind)
    }

    /// Call it in `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    ///
    /// - Returns: false if the session is not Tombolo's.
    @MainActor public static func handleBackgroundEvents(
        identifier: String, completionHandler: @escaping () -> Void
    ) -> Bool {
        guard identifier == BackgroundUploads.identifier else { return false }
        BackgroundUploads.completionHandler = completionHandler
        _ = BackgroundUploads.session
        return true
    }
}
#endif
