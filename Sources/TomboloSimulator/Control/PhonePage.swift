import TomboloJSON

/// A phone as the control port shows it: its screen, and the state that no real phone reports.
enum PhonePage {
    static func write(_ phone: Phone, at now: WallInstant, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("phone", phone.configuration.name)
            writer.member("class", phone.configuration.budgetClass.rawValue)
            writer.member("idiom", phone.configuration.idiom.rawValue)
            writer.member("os", phone.configuration.os)
            writer.member("presence", phone.presence.rawValue)
            writer.member("width", Int(PhoneGlass.width))
            writer.member("height", Int(PhoneGlass.height))
            writer.member("control_center", phone.glass.edge.rawValue)
            writer.member("status_bar", !phone.glass.isStatusBarHidden)
            writer.member("locked", phone.isLocked)
            writer.member("online", phone.isOnline)
            writer.member("terminated", phone.isTerminated)
            if let opened = phone.opened { writer.member("opened", opened) }
            if let page = phone.openedPage, phone.presence != .background {
                writer.object("app") { writer in
                    if let opened = phone.opened { writer.member("link", opened) }
                    if let type = page.type { writer.member("type", type) }
                    writer.rawMember("state", page.state.isEmpty ? Array("{}".utf8) : page.state)
                }
            }
            if let tap = phone.lastTap { write(tap, at: now, into: &writer) }
            writer.member("drawn", phone.drawnCount)
            writer.member("ignored", phone.ignoredCount)
            writeBudget(phone, at: now, into: &writer)
            writer.member("watch", phone.hasWatch)
            writer.array("trouble", of: phone.trouble.kinds.map(\.rawValue).sorted()) {
                $0.string($1)
            }
            writer.object("reloads") { writer in
                for (surface, count) in phone.reloads.sorted(by: {
                    $0.key.name ?? "" < $1.key.name ?? ""
                }) {
                    writer.member(surface.name ?? "", count)
                }
            }
            writer.array("cards", of: phone.cards) { write($1, into: &$0) }
            writer.array("widgets", of: phone.board.widgets) {
                write($1, of: phone, at: now, into: &$0)
            }
            if let gallery = phone.gallery { write(gallery, into: &writer) }
        }
    }

    private static func write(
        _ widget: Widget, of phone: Phone, at now: WallInstant, into writer: inout JSONWriter
    ) {
        writer.object { writer in
            write(widget.key, into: &writer)
            if let type = widget.type { writer.member("type", type) }
            writer.member("placeholder", widget.current == nil)
            write(widget.current, into: &writer)
            writer.member("drawn", widget.drawnCount)
            writer.member("entries", widget.entries.count)
            if let at = widget.nextEntryAt { writer.member("next_entry_at", at.rfc3339) }
            writer.member("policy", widget.policy.name)
            writer.member("fetches", widget.fetchCount)
            writer.member("fetches_left", phone.board.fetchesLeft(of: widget, at: now))
            if let cause = widget.fetching { writer.member("fetching", cause.rawValue) }
            if let at = widget.fetchedAt { writer.member("fetched_at", at.rfc3339) }
            if let cause = widget.fetchedFor { writer.member("fetched_for", cause.rawValue) }
            if let next = phone.board.nextFetch(of: widget) {
                writer.member("next_fetch_at", next.at.rfc3339)
                writer.member("next_fetch_for", next.cause.rawValue)
            }
        }
    }

    private static func write(_ key: Widget.Key, into writer: inout JSONWriter) {
        writer.member("kind", key.kind)
        writer.member("family", key.family.rawValue)
        if let config = key.config { writer.member("config", config) }
    }

    private static func write(_ entry: Widget.Entry?, into writer: inout JSONWriter) {
        writer.rawMember("state", entry?.content ?? Array("{}".utf8))
        guard let entry else { return }
        if let url = entry.url { writer.member("url", url) }
        guard !entry.links.isEmpty else { return }
        writer.array("links", of: entry.links) { $0.string($1) }
    }

    private static func write(_ gallery: WidgetGallery, into writer: inout JSONWriter) {
        writer.object("gallery") { writer in
            writer.member("kind", gallery.kind)
            writer.member("complete", gallery.isComplete)
            writer.array("families", of: gallery.families) { writer, family in
                writer.object { writer in
                    writer.member("family", family.rawValue)
                    write(gallery.snapshots[family] ?? nil, into: &writer)
                }
            }
        }
    }

    /// Writes the user's last tap, and whether it reached the relay.
    private static func write(
        _ tap: PhoneTap, at now: WallInstant, into writer: inout JSONWriter
    ) {
        writer.object("tap") { writer in
            if let activity = tap.activity { writer.member("activity", activity) }
            if let widget = tap.widget { writer.member("widget", widget) }
            if let config = tap.config { writer.member("config", config) }
            if let link = tap.link { writer.member("link", link) }
            if let intent = tap.intent { writer.member("intent", intent) }
            writer.member("number", tap.number)
            writer.member("at", tap.at.rfc3339)
            switch tap.outcome(at: now) {
            case .waiting: writer.member("result", "waiting")
            case .sent(let action):
                writer.member("result", "sent")
                writer.member("action", action)
            case .notSent(let reason):
                writer.member("result", "not sent")
                writer.member("reason", reason)
            }
        }
    }

    /// Writes the phone's own budget of pushes, which no real phone reveals.
    private static func writeBudget(
        _ phone: Phone, at now: WallInstant, into writer: inout JSONWriter
    ) {
        guard phone.configuration.budgetClass != .lab, phone.configuration.budgetModel == .windows
        else { return }
        let level = phone.budgetLevel(at: now)
        writer.object("budget") { writer in
            writer.member("level", level.rawValue)
            writer.member("per_hour", phone.budgetLevels[level])
            writer.member("left", phone.windows.left(at: now) ?? phone.budgetLevels[level])
            writer.member("of", phone.windows.full(at: now) ?? phone.budgetLevels[level])
            if let end = phone.windows.nextEnd(after: now) { writer.member("ends_at", end.rfc3339) }
            writer.member("holds", phone.held != nil)
            writer.member("asks_for_frequent_updates", phone.frequentPrompt == .asks)
        }
    }

    private static func write(_ card: ActivityCard, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("card", card.number)
            writer.member("type", card.attributesType)
            writer.nullable("activity", card.activityID)
            writer.member("phase", card.phase.name)
            if let alert = card.alert { writer.member("alert", alert) }
            writer.member("shown_at", card.shownAt.rfc3339)
            writer.rawMember("state", card.contentState)
            writer.member("shown", card.shownCount)
            writer.rawMember("drawn_state", card.drawnState)
            writer.member("drawn_at", card.drawnAt.rfc3339)
            writer.member("drawn", card.drawnCount)
            writer.member("overlay", card.hasOverlay)
            writer.member("ignored", card.ignoredCount)
            writer.member("has_update_token", card.updateToken != nil)
            writer.member("waits_for_allow", card.waitsForAllow)
            writer.member("channel", card.channelID != nil)
        }
    }

    /// Writes the newest pushes that changed nothing, oldest first.
    static func writeIgnored(_ phone: Phone, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("phone", phone.configuration.name)
            writer.member("count", phone.ignoredCount)
            writer.array("ignored", of: phone.ignored) { writer, push in
                writer.object { writer in
                    writer.member("at", push.at.rfc3339)
                    writer.member("reason", push.reason.rawValue)
                    writer.member("detail", push.detail)
                    writer.member("apns_id", push.apnsID)
                    writer.nullable("activity", push.activityID)
                }
            }
        }
    }
}
