import TomboloJSON

/// Saves and restores the uploads that the relay does not have yet, for a suspension or relaunch.
extension UploadQueue {
    /// Writes the waiting uploads in their order. Their delays are not saved: after a relaunch all
    /// are due.
    func keep(to writer: inout JSONWriter) {
        writer.beginArray()
        for path in order {
            guard let entry = entries[path], entry.state != .done else { continue }
            writer.object { writer in
                writer.member("path", path)
                writer.member("kind", entry.kind.rawValue)
                if entry.isLast { writer.member("last", true) }
                writer.rawMember("body", entry.body)
            }
        }
        writer.endArray()
    }

    /// Restores what `keep` wrote. Unreadable uploads are left out.
    mutating func restore(_ kept: JSONView?, at now: Duration) {
        for view in kept.map({ Array($0.elements.prefix(Self.resourcesMax)) }) ?? [] {
            guard let path = view["path"]?.string, let body = view["body"], body.kind == .object,
                let kind = view["kind"]?.integer.flatMap({ Int(exactly: $0) })
                    .flatMap(Kind.init)
            else { continue }
            put(path, kind, Array(body.raw), isLast: view["last"]?.bool ?? false, at: now)
        }
    }
}
