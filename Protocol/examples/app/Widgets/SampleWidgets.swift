import AppIntents
import Foundation
import SwiftUI
import TomboloWidgets
import UIKit
import WidgetKit

@main struct SampleWidgets: WidgetBundle {
    var body: some Widget {
        RunnerCard()
        WindowCard()
        RadialCard()
        DoorCard()
        ProfileWidget()
        DoorWidget()
        if #available(iOS 18.0, *) { DoorControl() }
    }
}

/// The profile: a widget without a configuration.
struct ProfileWidget: Widget {
    var body: some WidgetConfiguration {
        StaticConfiguration(kind: "profile", provider: ProfileProvider()) { entry in
            ProfileEntryView(entry: entry)
        }
        .supportedFamilies([.systemSmall, .systemMedium])
        .reloadedByPush()
    }
}

extension WidgetConfiguration {
    /// Opts this widget in to reloads by push, where the system has them.
    func reloadedByPush() -> some WidgetConfiguration {
        if #available(iOS 26.0, *) {
            return pushHandler(TomboloWidgetPushHandler.self)
        } else {
            return self
        }
    }
}

struct ProfileProvider: TimelineProvider {
    func placeholder(in context: Context) -> TomboloEntry { .empty }

    func getSnapshot(
        in context: Context, completion: @escaping @Sendable (TomboloEntry) -> Void
    ) {
        let family = context.family
        Task {
            let timeline = await Tombolo.entries(kind: "profile", family: family)
            completion(timeline.entries.first ?? .empty)
        }
    }

    func getTimeline(
        in context: Context, completion: @escaping @Sendable (Timeline<TomboloEntry>) -> Void
    ) {
        let family = context.family
        Task { completion(await Tombolo.entries(kind: "profile", family: family)) }
    }
}

struct ProfileEntryView: View {
    var entry: TomboloEntry

    var body: some View {
        // A content that does not decode shows the empty widget.
        let profile = try? entry.content(as: Profile.self)
        let avatar = profile?.avatar ?? ""
        let picture = entry.pictures[avatar] ?? Data(base64Encoded: avatar)
        VStack {
            if let image = UIImage(data: picture ?? Data()) { Image(uiImage: image) }
            Text(profile?.name ?? "")
            Text(profile.map { "Rank \($0.rank)" } ?? "")
        }
        .widgetURL(entry.url)
        .containerBackground(for: .widget) { Color.clear }
    }
}

/// A door: a widget that the person configures.
struct DoorWidget: Widget {
    var body: some WidgetConfiguration {
        AppIntentConfiguration(kind: "door", intent: DoorChoice.self, provider: DoorProvider()) {
            entry in
            DoorEntryView(entry: entry)
        }
        .supportedFamilies([.systemSmall, .accessoryInline, .accessoryRectangular])
        .reloadedByPush()
    }
}

struct DoorEntryView: View {
    var entry: TomboloEntry

    /// Each family gets its own part of the door's state.
    struct Content: Codable {
        var door: DoorAttributes.ContentState.Door?
        var word: String?
    }

    var body: some View {
        // A content that does not decode shows the empty widget.
        let content = try? entry.content(as: Content.self)
        VStack {
            Text(content?.door?.name ?? "")
            Text(content?.word ?? "")
        }
        .widgetURL(entry.url)
        .containerBackground(for: .widget) { Color.clear }
    }
}

struct DoorChoice: WidgetConfigurationIntent {
    static let title: LocalizedStringResource = "Door"
    @Parameter(title: "Door") var door: String?
}

struct DoorProvider: AppIntentTimelineProvider {
    func placeholder(in context: Context) -> TomboloEntry { .empty }

    func snapshot(for choice: DoorChoice, in context: Context) async -> TomboloEntry {
        await timeline(for: choice, in: context).entries.first ?? .empty
    }

    func timeline(for choice: DoorChoice, in context: Context) async -> Timeline<TomboloEntry> {
        await Tombolo.entries(kind: "door", family: context.family, config: choice.door)
    }
}

/// A button in the Control Center.
@available(iOS 18.0, *)
struct DoorControl: ControlWidget {
    var body: some ControlWidgetConfiguration {
        StaticControlConfiguration(kind: "DoorControl") {
            ControlWidgetButton(action: UnlockDoor()) {
                Text("Unlock")
            } actionLabel: { isActive in
                Text(isActive ? "Unlocking" : "Locked")
            }
        }
        .pushHandler(TomboloControlPushHandler.self)
    }
}
