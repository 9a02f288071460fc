import TomboloJSON

// What goes into the history.

extension Core {
    /// A fact of a tenant.
    ///
    /// - Parameter isDetail: it is left out, and counted, where its tenant has used up its part of
    ///   the history (`FactShares`).
    mutating func note(
        _ tenant: TenantID, _ activity: ActivityNumber?, _ kind: String, _ body: [UInt8],
        isDetail: Bool = false, now: Instant
    ) {
        guard factShares.takes(kind, body, of: tenant, isDetail: isDetail, now: now) else {
            return
        }
        staged.facts.append(
            NewFact(
                tenant: tenant, activity: activity, kind: kind, recordedAt: wall(now), body: body))
        flushSoon(now: now)
    }

    /// Says which facts of detail were left out: the first at once, the others by the minute.
    mutating func sayWhatIsLeftOut(now: Instant, all: Bool = false) {
        for thinning in factShares.thinnings(now: now, all: all) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("from", wall(thinning.from).rfc3339)
            writer.name("left_out")
            writer.beginObject()
            for (kind, count) in thinning.leftOut { writer.member(kind, count) }
            writer.endObject()
            writer.endObject()
            note(thinning.tenant, nil, "history.thinned", writer.bytes, now: now)
        }
    }
}
