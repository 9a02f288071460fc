import TomboloJSON

/// The output lines of a simulator: each is one JSON object, without the line end.
enum SimulatorLine {
    /// The first line: the simulator listens. `control` is left out if there is no control port.
    static func ready(url: String, caFile: String?, controlURL: String? = nil) -> [UInt8] {
        JSONWriter.objectBytes { line in
            line.member("ready", true)
            line.member("simulator", url)
            line.nullable("ca", caFile)
            if let controlURL { line.member("control", controlURL) }
        }
    }

    /// A card changed, or only its picture if `change` is nil. `shown` counts the changes of its
    /// state, and `ignored` the pushes for it that changed nothing. `drawn` is false if the picture
    /// shows an older state.
    static func island(
        phone: String, _ card: ActivityCard, _ change: IslandChange?, isDrawn: Bool,
        at now: WallInstant
    ) -> [UInt8] {
        var line = JSONWriter(capacity: card.contentState.count + 160)
        line.object { line in
            line.member("phone", phone)
            line.nullable("activity", card.activityID)
            line.member("type", card.attributesType)
            line.member("event", change?.rawValue ?? "drawn")
            line.rawMember("state", card.contentState)
            line.member("drawn", isDrawn)
            line.member("shown", card.shownCount)
            line.member("ignored", card.ignoredCount)
            if let alert = card.alert { line.member("alert", alert) }
            line.member("at", now.rfc3339)
        }
        // The producer wrote the state, so it may contain line breaks: put it on one line.
        return JSON.line(line.bytes)
    }

    /// Widgets or a control were reloaded by push. `count` includes this reload.
    static func reloaded(
        phone: String, _ surface: TokenPurpose, count: Int, at now: WallInstant
    ) -> [UInt8] {
        JSONWriter.objectBytes { line in
            line.member("phone", phone)
            line.member("event", "reloaded")
            line.member("surface", surface.name ?? "")
            line.member("reloads", count)
            line.member("at", now.rfc3339)
        }
    }

    /// A widget shows something new.
    static func widget(phone: String, _ widget: Widget, at now: WallInstant) -> [UInt8] {
        let line = JSON.object { line in
            line.member("phone", phone)
            line.member("event", "widget")
            line.member("kind", widget.key.kind)
            line.member("family", widget.key.family.rawValue)
            if let config = widget.key.config { line.member("config", config) }
            line.rawMember("state", widget.current?.content ?? Array("{}".utf8))
            line.member("at", now.rfc3339)
        }
        // The producer wrote the state, so it may contain line breaks: put it on one line.
        return JSON.line(line.bytes)
    }

    /// The user tapped something.
    static func tapped(phone: String, _ tap: PhoneTap) -> [UInt8] {
        JSONWriter.objectBytes { line in
            line.member("phone", phone)
            line.nullable("activity", tap.activity)
            line.member("event", "tapped")
            if let widget = tap.widget { line.member("widget", widget) }
            if let config = tap.config { line.member("config", config) }
            if let link = tap.link { line.member("link", link) }
            if let intent = tap.intent { line.member("intent", intent) }
            line.member("at", tap.at.rfc3339)
        }
    }

    /// A push changed nothing. The line has the reason.
    static func ignored(phone: String, _ push: IgnoredPush) -> [UInt8] {
        JSONWriter.objectBytes { line in
            line.member("phone", phone)
            line.nullable("activity", push.activityID)
            line.member("event", "ignored")
            line.member("reason", push.reason.rawValue)
            line.member("detail", push.detail)
            line.member("apns_id", push.apnsID)
            line.member("at", push.at.rfc3339)
        }
    }

    /// The gateway refused a push for a reason that is new on this connection.
    static func refused(_ refusal: Refusal, apnsID: String, at now: WallInstant) -> [UInt8] {
        JSONWriter.objectBytes { line in
            line.member("event", "refused")
            line.member("status", refusal.reason.status)
            line.member("reason", refusal.reason.rawValue)
            line.member("apns_id", apnsID)
            line.member("at", now.rfc3339)
        }
    }

    /// The relay did not accept a phone's report. `status` is nil if it was unreachable.
    static func untold(
        phone: String, path: String, status: Int?, at now: WallInstant
    ) -> [UInt8] {
        JSONWriter.objectBytes { line in
            line.member("phone", phone)
            line.member("event", status == nil ? "relay_unreachable" : "relay_refused")
            line.member("path", "/v1" + path)
            if let status { line.member("status", status) }
            line.member("at", now.rfc3339)
        }
    }
}
