import Foundation
import SwiftUI
import TomboloKit
import TomboloWidgets
import UIKit

final class AppDelegate: NSObject, UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        guard let relay = URL(string: "https://relay.example.com") else { return false }
        Tombolo.configure(relay: relay) { try await Backend.tomboloKey() }
        Tombolo.observe(RunnerWidgetAttributes.self) { $0.activity_id }
        Tombolo.observe(WindowWidgetAttributes.self) { $0.activity_id }
        Tombolo.observe(RadialWidgetAttributes.self) { $0.activity_id }
        Tombolo.observe(DoorAttributes.self) { $0.activity_id }
        return true
    }

    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        let isTombolo = Tombolo.handleBackgroundEvents(
            identifier: identifier, completionHandler: completionHandler)
        if !isTombolo { completionHandler() }
    }
}

@main struct SampleApp: App {
    @UIApplicationDelegateAdaptor(AppDelegate.self) private var delegate

    var body: some Scene {
        WindowGroup { ProfileView() }
    }
}

struct ProfileView: View {
    @State private var rank = 3

    var body: some View {
        VStack {
            Text("Rank \(rank)")
            Button("One better") {
                rank -= 1
                let edited = Profile(name: "Ada", rank: rank)
                Task {
                    try await Tombolo.edited(kind: "profile") { try await Backend.save(edited) }
                }
            }
            Button("Sign in") { Task { await Tombolo.signIn() } }
            Button("Sign out") { Tombolo.signOut() }
        }
    }
}

/// Your own backend. It knows who is signed in, and has a key of the relay.
enum Backend {
    struct SignedOut: Error {}

    /// Asks for a key with the scope `device:` and `Tombolo.installation`, bound to the user. Replace
    /// it.
    static func tomboloKey() async throws -> String { throw SignedOut() }

    /// Puts the widget's timeline at the relay. Replace it.
    static func save(_ profile: Profile) async throws { throw SignedOut() }
}
