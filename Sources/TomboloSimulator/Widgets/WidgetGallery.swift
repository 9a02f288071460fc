/// The gallery from which a user chooses a widget: it shows each family's snapshot.
package struct WidgetGallery: Hashable, Sendable {
    /// Number of this gallery: how often one was opened, including this one.
    let number: Int
    package let kind: String
    /// The phone's families, in WidgetKit's order.
    package let families: [Widget.Family]
    /// Received snapshots. A nil value means that the family has nothing to show.
    package private(set) var snapshots: [Widget.Family: Widget.Entry?] = [:]

    /// True if each family has its snapshot.
    package var isComplete: Bool { snapshots.count == families.count }

    mutating func took(_ family: Widget.Family, _ entry: Widget.Entry?) {
        snapshots[family] = .some(entry)
    }
}
