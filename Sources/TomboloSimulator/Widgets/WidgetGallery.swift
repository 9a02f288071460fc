/// The gallery from which a user chooses a widget: it shows each family's snapshot.
package struct WidgetGallery: Hashable, Sendable {
    /// Counts the times it was opened.
    let number: Int
    package let kind: String
    /// In WidgetKit's order, those of the phone.
    package let families: [Widget.Family]
    /// What came; a family whose value is nil has nothing to show.
    package private(set) var snapshots: [Widget.Family: Widget.Entry?] = [:]

    init(number: Int, kind: String, families: [Widget.Family]) {
        (self.number, self.kind, self.families) = (number, kind, families)
    }

    /// Whether each family has its answer.
    package var isComplete: Bool { snapshots.count == families.count }

    mutating func took(_ family: Widget.Family, _ entry: Widget.Entry?) {
        snapshots[family] = .some(entry)
    }
}
