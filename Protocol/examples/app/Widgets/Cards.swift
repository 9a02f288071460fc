import ActivityKit
import AppIntents
import Foundation
import SwiftUI
import UIKit
import WidgetKit

/// The cat.
struct RunnerCard: Widget {
    var body: some WidgetConfiguration {
        ActivityConfiguration(for: RunnerWidgetAttributes.self) { context in
            Picture(base64: context.state.image)
        } dynamicIsland: { context in
            DynamicIsland {
                DynamicIslandExpandedRegion(.center) { Picture(base64: context.state.image) }
            } compactLeading: {
                Picture(base64: context.state.image)
            } compactTrailing: {
                EmptyView()
            } minimal: {
                Picture(base64: context.state.image)
            }
        }
    }
}

/// A picture that travels in the state. Without one the place stays empty.
struct Picture: View {
    var base64: String

    var body: some View {
        if let data = Data(base64Encoded: base64), let image = UIImage(data: data) {
            Image(uiImage: image)
        }
    }
}

/// The window.
struct WindowCard: Widget {
    var body: some WidgetConfiguration {
        ActivityConfiguration(for: WindowWidgetAttributes.self) { context in
            Window(corner: context.state.corner)
        } dynamicIsland: { context in
            DynamicIsland {
                DynamicIslandExpandedRegion(.center) { Window(corner: context.state.corner) }
            } compactLeading: {
                Image(systemName: "macwindow")
            } compactTrailing: {
                EmptyView()
            } minimal: {
                Image(systemName: "macwindow")
            }
        }
    }
}

struct Window: View {
    var corner: Double

    var body: some View { RoundedRectangle(cornerRadius: corner).padding() }
}

/// Three dots on a circle; a tap turns them.
struct RadialCard: Widget {
    var body: some WidgetConfiguration {
        ActivityConfiguration(for: RadialWidgetAttributes.self) { context in
            VStack {
                Circle3(offset: context.state.offset)
                Button(intent: TurnIntent(card: context.attributes.activity_id ?? "")) {
                    Text("Turn")
                }
            }
        } dynamicIsland: { context in
            DynamicIsland {
                DynamicIslandExpandedRegion(.bottom) { Circle3(offset: context.state.offset) }
            } compactLeading: {
                Image(systemName: "circle.dotted")
            } compactTrailing: {
                Text("\(Int(context.state.offset))°")
            } minimal: {
                Image(systemName: "circle.dotted")
            }
        }
    }
}

/// Item i of three: a = 2π·i/3 + offset, on a circle with a third of the width as its radius.
struct Circle3: View {
    var offset: Double

    var body: some View {
        GeometryReader { place in
            ForEach([0, 1, 2], id: \.self) { item in
                Image(systemName: "person.circle").position(point(item, in: place.size))
            }
        }
    }

    private func point(_ item: Int, in size: CGSize) -> CGPoint {
        let angle = 2 * Double.pi * Double(item) / 3 + offset * Double.pi / 180
        let radius = size.width / 3
        return CGPoint(
            x: size.width / 2 - radius * sin(angle), y: size.height / 2 + radius * cos(angle))
    }
}

/// The door.
struct DoorCard: Widget {
    var body: some WidgetConfiguration {
        ActivityConfiguration(for: DoorAttributes.self) { context in
            DoorLine(state: context.state)
        } dynamicIsland: { context in
            DynamicIsland {
                DynamicIslandExpandedRegion(.center) { DoorLine(state: context.state) }
            } compactLeading: {
                Image(systemName: context.state.locked == false ? "lock.open" : "lock")
            } compactTrailing: {
                Text(context.state.word)
            } minimal: {
                Image(systemName: "door.left.hand.closed")
            }
        }
    }
}

struct DoorLine: View {
    var state: DoorAttributes.ContentState

    var body: some View {
        VStack {
            Text(state.door.name ?? "Door")
            Text(state.word)
            Text("\(state.event?.who ?? "") \(state.event?.what ?? "")")
            Button(intent: UnlockDoor()) { Text("Unlock") }
        }
    }
}
