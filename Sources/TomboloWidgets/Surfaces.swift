#if canImport(ActivityKit) && !targetEnvironment(macCatalyst)
internal import Foundation
public import TomboloContract
public import WidgetKit

/// Uploads the push token of the app's widgets, which is one for all of them. Give it to each
/// widget that pushes shall reload, with `.pushHandler(TomboloWidgetPushHandler.self)`: a widget
/// without it is not reloaded (Apple, `WidgetConfiguration.pushHandler(_:)`).
@available(iOS 26.0, *)
public struct TomboloWidgetPushHandler: WidgetPushHandler {
    public init() {}

    public func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {
        Tombolo.upload(pushInfo.token, "widget")
    }
}

/// Uploads the push tokens of the app's controls. Give it to each control with
/// `.pushHandler(TomboloControlPushHandler.self)`.
@available(iOS 18.0, *)
public struct TomboloControlPushHandler: ControlPushHandler {
    public init() {}

    public func pushTokensDidChange(controls: [ControlInfo]) {
        for control in controls {
            control.pushInfo.map { Tombolo.upload($0.token, "control:" + control.kind) }
        }
    }
}

extension Tombolo {
    /// Uploads a token of a surface from the extension's process. If that fails, the app uploads it
    /// when it is in front.
    fileprivate static func upload(_ token: Data, _ name: String) {
        let upload = UploadQueue.token(
            token.hex, name: name, device: Connection.current?.device ?? "",
            time: Date.now.rfc3339)
        let end = Transport.beginExpiringActivity()
        Task {
            for (path, body) in [upload].compactMap({ $0 }) {
                _ = await Transport.put(path, body, mayBeLate: false)
            }
            end.signal()
        }
    }
}

extension Tombolo {
    /// Sends a tap once, and waits at most `Tap.patience` for the relay. It is never sent later.
    public static func send(_ tap: Tap) async -> Tap.Outcome {
        let device = PathSegment.encoded(Connection.current?.device ?? "")
        let answer = await Transport.post(
            "/devices/\(device)/actions", tap.body(time: Date.now.rfc3339),
            within: 5)  // as `Tap.patience`
        return Tap.outcome(status: answer.status, body: answer.body)
    }

    /// Sends the tap on a button: for the `perform()` of an intent. Throws `Tap.NotSent`.
    ///
    /// - Parameters:
    ///   - intent: the name that the producer knows.
    ///   - activity: the attribute `activity_id` of the button's card; nil if it has none.
    public static func press(_ intent: String, activity: String? = nil) async throws {
        var tap = Tap()
        (tap.intent, tap.activity) = (intent, activity)
        guard case .notSent(let reason) = await send(tap) else { return }
        throw Tap.NotSent(reason: reason)
    }
}
#endif
