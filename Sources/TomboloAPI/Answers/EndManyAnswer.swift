package import TomboloCore
package import TomboloJSON

/// What ended by one `POST /v1/activities/end`.
package struct EndManyAnswer: Sendable {
    private let ended: [Accepted]

    package init(_ ended: [Accepted]) { self.ended = ended }

    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("count", ended.count)
        writer.name("ended")
        writer.beginArray()
        for one in ended {
            writer.beginObject()
            writer.member("activity", one.activity.rawValue)
            writer.member("seq", one.seq)
            writer.member("version", one.version)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}
