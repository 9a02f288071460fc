package import TomboloJSON

/// The answer to a listing, such as `GET /v1/activities`: one page of its rows.
package struct ListPage<Row: AnswerObject & Sendable>: AnswerObject, Sendable {
    private let name: String
    private let rows: [Row]
    private let next: String?

    /// - Parameters:
    ///   - name: the member that has the rows.
    ///   - next: the cursor of the next page; nil if this is the last page.
    package init(_ name: String, _ rows: [Row], next: String?) {
        (self.name, self.rows, self.next) = (name, rows, next)
    }

    package func write(membersTo writer: inout JSONWriter) {
        writer.array(name, of: rows) { $1.write(to: &$0) }
        writer.nullable("next_cursor", next)
    }
}
