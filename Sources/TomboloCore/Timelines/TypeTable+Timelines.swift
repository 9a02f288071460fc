import TomboloJSON

// What types define for timelines: the checks of contents, and the cuts for widgets.

extension TypeTable {
    /// The type that a timeline names; nil if it names none or the type is not registered.
    func type(of key: TimelineKey, _ timeline: Timeline) -> ActivityType? {
        timeline.type.flatMap {
            self[ActivityType.Key(tenant: key.tenant, app: key.app, name: $0)]
        }
    }

    /// The type whose states a timeline shows: the one that it names, or that of its activity.
    func type(of row: StoredTimeline, _ activities: ActivityTable) -> ActivityType? {
        let source = row.timeline.from.flatMap { activities.source($0, of: row.key) }
        return (source?.type ?? row.timeline.type).flatMap {
            self[ActivityType.Key(tenant: row.key.tenant, app: row.key.app, name: $0)]
        }
    }

    /// A hash, by value, of what widgets can get of a timeline, without the parts that no family
    /// gets.
    func seen(_ timeline: Timeline, _ key: TimelineKey) -> UInt64 {
        guard let cut = type(of: key, timeline)?.families?.union else {
            return timeline.visibleHash
        }
        var hash = ContentHash()
        func add(_ outline: JSONOutline) {
            for member in outline.members where !["entries", "subject"].contains(member.name) {
                let value = timeline.body.value(at: member.place)
                hash.combine(Array(member.name.utf8))
                hash.combine((member.name == "content" ? cut.applied(to: value) : value).valueHash)
            }
        }
        add(timeline.outline)
        for outline in timeline.entryOutlines { add(outline) }
        return hash.value
    }

    /// Throws if the timeline does not match its type, or is too large to be cut at each read.
    func check(_ timeline: Timeline, _ key: TimelineKey) throws(Refusal) {
        guard let name = timeline.type else { return }
        func fault(_ detail: String, _ message: String) -> Refusal {
            Refusal(
                .invalidField, detail, errors: [FieldError(pointer: "/type", message: message)])
        }
        guard let type = type(of: key, timeline) else {
            throw fault(
                "app \"\(key.app)\" has no type \"\(name)\", and the cuts of its families are "
                    + "taken from there; register it first", "is not registered")
        }
        guard timeline.bytes <= Timeline.cutBytesMax else {
            throw fault(
                "the timeline has \(timeline.bytes) bytes, and with a type \(Timeline.cutBytesMax) "
                    + "are the most, because each read cuts them; give a picture by its URL",
                "needs a smaller timeline")
        }
        var faults: [FieldError] = []
        func look(_ outline: JSONOutline, _ pointer: String) {
            guard faults.isEmpty, let place = outline["content"] else { return }
            faults = type.faults(in: timeline.body.value(at: place), at: pointer)
        }
        look(timeline.outline, "/content")
        for (index, outline) in timeline.entryOutlines.enumerated() {
            look(outline, "/entries/\(index)/content")
        }
        guard faults.isEmpty else {
            throw Refusal(
                .stateInvalid, "the content is no state of type \"\(name)\"", errors: faults)
        }
    }

    /// The part of a timeline's contents that a widget family gets; nil: all. If `family` is nil,
    /// it is what any family gets. Throws if the type has no cut for the family.
    ///
    /// - Parameter source: the activity that the timeline shows, if any.
    func cut(
        of row: StoredTimeline, _ source: TimelineSource?, _ family: WidgetFamily?
    ) throws(Refusal) -> FamilyCut? {
        guard let name = source?.type ?? row.timeline.type else { return nil }
        let known = self[ActivityType.Key(tenant: row.key.tenant, app: row.key.app, name: name)]
        // Show nothing of contents whose type is unknown. The type of an activity need not be
        // registered.
        guard let type = known else { return source == nil ? .nothing : nil }
        guard let families = type.families else { return nil }
        guard let family else { return families.union }
        guard let cut = families[family] else {
            let names = families.families.map(\.rawValue).joined(separator: ", ")
            throw Refusal(
                .invalidField,
                "type \"\(name)\" has no cut for \(family.rawValue), but for \(names); register "
                    + "the type with it under \"families\"")
        }
        return cut
    }
}
