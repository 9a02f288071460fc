// What types say of timelines: whose states their contents are, and what widgets get of them.

extension TypeTable {
    /// The type that a timeline names; nil where it names none, or none that is registered.
    func type(of key: TimelineKey, _ timeline: Timeline) -> ActivityType? {
        timeline.type.flatMap {
            self[ActivityType.Key(tenant: key.tenant, app: key.app, name: $0)]
        }
    }

    /// Throws where its widgets would get nothing, or each of their reads would cost too much.
    func check(_ timeline: Timeline, _ key: TimelineKey) throws(Refusal) {
        guard let name = timeline.type else { return }
        func fault(_ detail: String, _ message: String) -> Refusal {
            Refusal(
                .invalidField, detail, errors: [FieldError(pointer: "/type", message: message)])
        }
        guard type(of: key, timeline) != nil else {
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
    }

    /// What a widget of a family gets of a timeline's contents; nil: all of them. Without a family
    /// what any family gets.
    func cut(of row: StoredTimeline, _ family: WidgetFamily?) throws(Refusal) -> FamilyCut? {
        guard let name = row.timeline.type else { return nil }
        // What is not known may not be shown.
        guard let type = type(of: row.key, row.timeline) else { return .nothing }
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
