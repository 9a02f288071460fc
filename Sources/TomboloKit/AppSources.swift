#if canImport(ActivityKit) && !targetEnvironment(macCatalyst)
internal import ActivityKit
internal import Dispatch
internal import Foundation
internal import Network
internal import TomboloContract
internal import TomboloWidgets
internal import UIKit
internal import WidgetKit

// What the runner reads beside cards: scene phases, the network, facts, tokens of surfaces.

extension AppRunner {
    private static let network = NWPathMonitor()

    /// Awaits changes for as long as the process lives.
    func begin() {
        let phases: [UIApplication.State: ScenePresence.Phase] = [
            .active: .active, .inactive: .inactive, .background: .background,
        ]
        handle(.scene(phases[UIApplication.shared.applicationState] ?? .background))
        whenever(UIApplication.didBecomeActiveNotification) { $0.handle(.scene(.active)) }
        whenever(UIApplication.willResignActiveNotification) { $0.handle(.scene(.inactive)) }
        whenever(UIApplication.didEnterBackgroundNotification) { $0.handle(.scene(.background)) }
        Self.network.pathUpdateHandler = { [weak self] path in
            guard path.status == .satisfied else { return }
            Task { @MainActor in self?.handle(.networkReturned) }
        }
        Self.network.start(queue: .main)
        let frequent = ActivityAuthorizationInfo().frequentPushEnablementUpdates
        let all = ActivityAuthorizationInfo().activityEnablementUpdates
        Task { for await _ in frequent { readFacts() } }
        Task { for await _ in all { readFacts() } }
    }

    private func whenever(_ name: Notification.Name, _ act: @escaping (AppRunner) -> Void) {
        let changes = NotificationCenter.default.notifications(named: name)
        Task { for await _ in changes { act(self) } }
    }

    /// Tokens that the extension has uploaded too, in case the relay has lost them.
    func readSurfaceTokens() {
        guard #available(iOS 18.0, *) else { return }
        Task {
            for control in try await ControlCenter.shared.currentControls() {
                handle(.controlToken(kind: control.kind, control.pushInfo?.token.hex ?? ""))
            }
        }
        guard #available(iOS 26.0, *) else { return }
        Task { await handle(.widgetToken(Self.widgetToken())) }
    }

    @available(iOS 26.0, *)
    @concurrent private nonisolated static func widgetToken() async -> String {
        await WidgetCenter.shared.currentPushInfo?.token.hex ?? ""
    }
}

extension DeviceFacts {
    /// The facts of this device and build.
    @MainActor static func current(controlCenter: ScenePresence.Edge?) -> DeviceFacts {
        let permissions = ActivityAuthorizationInfo()
        var facts = DeviceFacts(
            app: Bundle.main.bundleIdentifier ?? "", environment: environment,
            os: UIDevice.current.systemVersion,
            frequentUpdates: permissions.frequentPushesEnabled)
        facts.appVersion = Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String
        facts.timeZone = TimeZone.current.identifier
        facts.locale = Locale.current.identifier
        facts.controlCenter = controlCenter
        facts.activitiesEnabled = permissions.areActivitiesEnabled
        return facts
    }

    private static var environment: String {
        #if targetEnvironment(simulator)
        return "sandbox"
        #else
        let file = Bundle.main.url(forResource: "embedded", withExtension: "mobileprovision")
        // A build from the App Store has no such file.
        return environment(ofProfile: file.flatMap { try? Data(contentsOf: $0) }.map(Array.init))
        #endif
    }
}
#endif
