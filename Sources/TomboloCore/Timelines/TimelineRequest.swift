/// The content of a `PUT /v1/timelines/{kind}`.
package struct TimelineRequest: Sendable {
    /// Nil means the tenant's only app.
    package var app: String?
    package var subject: TimelineSubject
    package var timeline: Timeline
    /// All links of its entries.
    package var links: [String] = []
}
