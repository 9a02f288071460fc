/// What `PUT /v1/timelines/{kind}` asks for.
package struct TimelineRequest: Sendable {
    /// nil: the tenant's only one.
    package var app: String?
    package var subject: TimelineSubject
    package var timeline: Timeline
    /// All that its entries link to.
    package var links: [String] = []
}
