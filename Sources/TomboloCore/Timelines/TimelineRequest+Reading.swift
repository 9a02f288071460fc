package import TomboloJSON

extension TimelineRequest {
    /// Reads the body of `PUT /v1/timelines/{kind}`. Throws `FieldErrors` with all faults.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        app = reader.string("app")
        let (subject, readers) = Self.subject(&reader)
        let schedule = TimelineSchedule.reading(&reader)
        let from = Self.from(&reader)
        let hasContent = Self.content(&reader, view)
        let dates = Self.entries(&reader)
        let policy = Self.policy(&reader, hasDates: schedule != nil || !dates.isEmpty)
        if view["schedule"] != nil, view["entries"] != nil {
            reader.fail("entries", "must not be given beside \"schedule\"")
        }
        if view["from"] != nil {
            for name in ["content", "entries", "schedule", "type"] where view[name] != nil {
                reader.fail(name, "must not be given beside \"from\": the activity has it")
            }
        } else if !hasContent, view["content"] == nil,
            view["schedule"] != nil || view["entries"] == nil
        {
            reader.fail("content", "is missing: what the widget shows")
        }
        if case .device = schedule?.zone, case .key = subject {
            reader.fail("schedule", "needs the name of a zone: a subject \"key\" has no device")
        }
        let type = reader.string("type")
        if type?.isEmpty == true { reader.fail("type", "must not be empty") }
        try reader.finish()
        guard let subject else {
            throw FieldErrors([FieldError(pointer: "/subject", message: "is missing")])
        }
        self.subject = subject
        timeline = Timeline(
            schedule: schedule, policy: policy, type: type, from: from, dates: dates,
            readers: readers,
            body: view.json,
            outline: JSONOutline(of: view, in: view),
            entryOutlines: view["entries"]?.elements.map { JSONOutline(of: $0, in: view) } ?? [],
            visibleHash: Self.visibleHash(view))
        links = Timeline.links(of: view)
    }

    private static func from(_ reader: inout FieldReader) -> Identifier? {
        guard let view = reader.object("from") else { return nil }
        var inner = reader.inside(view, "from")
        let activity = inner.identifier("activity")
        inner.require("activity", "")
        do { try inner.finish() } catch { reader.adopt(error) }
        return activity
    }

    /// Reads exactly one of `user`, `device` or `key`, and the readers of a subject `key`.
    private static func subject(
        _ reader: inout FieldReader
    ) -> (TimelineSubject?, readers: [String]) {
        var others = readers(&reader)
        guard let view = reader.object("subject") else {
            reader.fail("subject", #"is missing: {"user":"u1"}, {"device":…} or {"key":…}"#)
            return (nil, others)
        }
        var inner = reader.inside(view, "subject")
        var subjects: [TimelineSubject] = []
        if let user = inner.string("user") {
            subjects.append(.user(user))
            if user.isEmpty { inner.fail("user", "must not be empty") }
        }
        if let device = inner.identifier("device") { subjects.append(.device(device)) }
        if let key = inner.identifier("key") { subjects.append(.key(key)) }
        let own = readers(&inner)
        if !own.isEmpty, !others.isEmpty {
            reader.fail("readers", "is given twice")
        }
        others = own.isEmpty ? others : own
        if ["user", "device", "key"].count(where: inner.has) != 1 {
            reader.fail("subject", "must name exactly one of user, device or key")
        }
        if !others.isEmpty, let subject = subjects.first {
            if subject.name != "key" {
                inner.fail("readers", "is for a subject \"key\" only")
            }
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        return (subjects.count == 1 ? subjects.first : nil, others)
    }

    private static func readers(_ reader: inout FieldReader) -> [String] {
        guard let view = reader.object("readers") else { return [] }
        var inner = reader.inside(view, "readers")
        var users: [String] = []
        if let list = inner.value("users") {
            let known = list.strings(atMost: Timeline.readersMax)
            users = known ?? []
            if known == nil || users.contains("")
                || Set(users.map { Array($0.utf8) }).count != users.count
            {
                inner.fail(
                    "users",
                    "must be an array of at most \(Timeline.readersMax) users, each of them once")
            }
        } else {
            inner.fail("users", "is missing")
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        return users
    }

    /// Checks the members of one entry. Returns true if it has content.
    private static func content(_ reader: inout FieldReader, _ view: JSONView) -> Bool {
        let content = reader.object("content")
        if let url = reader.string("url") {
            if let message = fault(ofURL: url) { reader.fail("url", message) }
        }
        if let list = reader.value("links") {
            let links = list.strings(atMost: Timeline.linksMax)
            if links == nil {
                reader.fail("links", "must be an array of at most \(Timeline.linksMax) URLs")
            }
            for (index, link) in (links ?? []).enumerated() {
                guard let message = fault(ofURL: link) else { continue }
                reader.fail("links", "number \(index) \(message)")
            }
        }
        _ = reader.double("relevance")
        return content != nil
    }

    /// What is wrong with a link, which must be an absolute URL; nil if nothing is.
    private static func fault(ofURL text: String) -> String? {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard let first = scheme.first, isLetter(first), scheme.allSatisfy(isOfScheme),
            scheme.count < text.utf8.count,
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return "must be a URL such as \"app://profile\"" }
        guard text.utf8.count <= Timeline.urlBytesMax else {
            return "is longer than \(Timeline.urlBytesMax) bytes"
        }
        return nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }

    /// True if a URL's scheme may contain the character (RFC 3986, section 3.1).
    private static func isOfScheme(_ byte: UInt8) -> Bool {
        isLetter(byte) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
    }

    /// Checks the producer's own entries, and returns their dates.
    private static func entries(_ reader: inout FieldReader) -> [Instant] {
        guard let list = reader.value("entries") else { return [] }
        guard list.kind == .array, (1...Timeline.entriesMax).contains(list.count) else {
            reader.fail("entries", "must be an array of 1 to \(Timeline.entriesMax) entries")
            return []
        }
        var dates: [Instant] = []
        for (index, view) in list.elements.enumerated() {
            var entry = FieldReader(view, pointer: "\(reader.path("entries"))/\(index)")
            if let date = entry.instant("date") {
                if let last = dates.last, date <= last {
                    entry.fail("date", "must be later than the date of the entry before")
                }
                dates.append(date)
            } else {
                entry.require("date", "")
            }
            if !content(&entry, view), view["content"] == nil {
                entry.fail("content", "is missing")
            }
            do { try entry.finish() } catch { reader.adopt(error) }
        }
        return dates
    }

    /// Reads `"atEnd"`, `"never"` or `{"after":DATE}`.
    private static func policy(_ reader: inout FieldReader, hasDates: Bool) -> Timeline.Policy {
        guard let value = reader.value("policy") else { return hasDates ? .atEnd : .never }
        switch value.string {
        case "atEnd": return .atEnd
        case "never": return .never
        default: break
        }
        if value.kind == .object {
            var inner = reader.inside(value, "policy")
            let date = inner.instant("after")
            do {
                try inner.finish()
                if let date { return .after(date) }
            } catch {
                reader.adopt(error)
                return .never
            }
        }
        reader.fail("policy", "must be \"atEnd\", \"never\" or {\"after\": a time}")
        return .never
    }

    private static func visibleHash(_ view: JSONView) -> UInt64 {
        var hash = ContentHash()
        for name in [
            "content", "url", "links", "relevance", "entries", "schedule", "policy", "type", "from",
        ] {
            hash.combine(view[name]?.valueHash ?? 0)
        }
        return hash.value
    }
}
