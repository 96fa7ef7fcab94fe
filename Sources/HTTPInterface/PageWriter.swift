package import Answers
import JSON
package import Replies

/// A page of rows, written one by one.
package struct PageWriter {
    private var writer: MemberWriter
    /// The form of the items; `nil` for JSON with degrees.
    private let form: AnswerForm?
    /// The rows written so far.
    package private(set) var count: Int64 = 0
    /// More than most fixes take: a body that outgrows its room is copied.
    private static let bytesOfRow = 320

    /// - Parameter rows: The most rows of the page. Memory is reserved for them, and used only when written to.
    package init(rows: Int, _ form: AnswerForm? = nil) {
        self.form = form
        if let form {
            writer = form.begun(capacity: rows * Self.bytesOfRow)
            form.beginItems(&writer)
        } else {
            writer = MemberWriter(JSONWriter(capacity: rows * Self.bytesOfRow))
            writer.json.beginObject()
            writer.json.key(PageEnd.items)
            writer.json.beginArray()
        }
    }

    /// Writes an item.
    package mutating func add<Item: Reply>(_ item: consuming Item) {
        if let form { form.add(item, to: &writer) } else { item.write(into: &writer) }
        count += 1
    }

    /// Writes an item of a list without places.
    package mutating func add<Item: MemberValue>(plain item: Item) {
        item.write(into: &writer)
        count += 1
    }

    /// - Parameter next: The cursor of the next page; `nil` on the last page.
    package mutating func ended(next: String?, asOf: Int64, _ references: References) -> Gate.Computed {
        writer.json.endArray()
        PageEnd(next: next.map(Reference.text), asOf: references.place(asOf)).writeMembers(into: &writer)
        if let form {
            // The bytes keep one owner, so that they are not copied.
            var whole = MemberWriter(JSONWriter(capacity: 0))
            swap(&whole, &writer)
            return form.ended(whole, count: count, asOf: asOf)
        }
        writer.json.endObject()
        return Gate.Computed(body: writer.json.bytes, count: count, asOf: asOf)
    }

    /// A page of items, with their places in a form.
    ///
    /// - Parameter item: Makes the item of a row.
    package static func page<Row, Item: Reply>(
        _ rows: [Row], next: String?, asOf: Int64, _ references: References, in form: AnswerForm, item: (Row) -> Item
    ) -> Gate.Computed {
        var page = PageWriter(rows: rows.count, form)
        for row in rows { page.add(item(row)) }
        return page.ended(next: next, asOf: asOf, references)
    }

    /// As ``page(_:next:asOf:_:in:item:)``, of items without places.
    package static func page<Row, Item: MemberValue>(
        _ rows: [Row], next: String?, asOf: Int64, _ references: References, item: (Row) -> Item
    ) -> Gate.Computed {
        var page = PageWriter(rows: rows.count)
        for row in rows { page.add(plain: item(row)) }
        return page.ended(next: next, asOf: asOf, references)
    }
}
