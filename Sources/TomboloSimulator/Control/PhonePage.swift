import TomboloJSON

/// A phone as the control port shows it: what its user sees, and what it never told.
enum PhonePage {
    static func write(_ phone: Phone, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("phone", phone.configuration.name)
        writer.member("class", phone.configuration.budgetClass.rawValue)
        writer.member("os", phone.configuration.os)
        writer.member("presence", phone.presence.rawValue)
        writer.member("locked", phone.isLocked)
        writer.member("online", phone.isOnline)
        writer.member("terminated", phone.isTerminated)
        writer.member("drawn", phone.drawnCount)
        writer.member("ignored", phone.ignoredCount)
        writer.name("reloads")
        writer.beginObject()
        for (surface, count) in phone.reloads.sorted(by: { $0.key.name ?? "" < $1.key.name ?? "" })
        {
            writer.member(surface.name ?? "", count)
        }
        writer.endObject()
        writer.name("cards")
        writer.beginArray()
        for card in phone.cards { write(card, into: &writer) }
        writer.endArray()
        writer.endObject()
    }

    private static func write(_ card: ActivityCard, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("card", card.number)
        writer.member("type", card.attributesType)
        writer.name("activity")
        if let id = card.activityID { writer.string(id) } else { writer.null() }
        writer.member("phase", card.phase.name)
        if let alert = card.alert { writer.member("alert", alert) }
        writer.member("shown_at", card.shownAt.rfc3339)
        writer.name("state")
        writer.raw(card.contentState)
        writer.member("shown", card.shownCount)
        writer.member("ignored", card.ignoredCount)
        writer.member("has_update_token", card.updateToken != nil)
        writer.member("channel", card.channelID != nil)
        writer.endObject()
    }

    /// The newest pushes that changed nothing, oldest first.
    static func writeIgnored(_ phone: Phone, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("phone", phone.configuration.name)
        writer.member("count", phone.ignoredCount)
        writer.name("ignored")
        writer.beginArray()
        for push in phone.ignored {
            writer.beginObject()
            writer.member("at", push.at.rfc3339)
            writer.member("reason", push.reason.rawValue)
            writer.member("detail", push.detail)
            writer.member("apns_id", push.apnsID)
            writer.name("activity")
            if let id = push.activityID { writer.string(id) } else { writer.null() }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}
