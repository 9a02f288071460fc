/// The body of `PUT /v1/timelines/{kind}`.
package struct TimelineRequest: Sendable {
    /// nil: the tenant's only app.
    package var app: String?
    package var subject: TimelineSubject
    package var timeline: Timeline
    /// All links in the body and its entries.
    package var links: [String] = []
}
