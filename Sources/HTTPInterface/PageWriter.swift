package import Answers
package import JSON

/// A page of rows, written one by one.
package struct PageWriter {
    private var writer: JSONWriter
    /// The rows written so far.
    package private(set) var count: Int64 = 0
    /// About the bytes of a fix.
    private static let bytesOfRow = 256

    /// - Parameter rows: The most rows of the page. Memory is reserved for them, and used only when written to.
    package init(rows: Int) {
        writer = JSONWriter(capacity: rows * Self.bytesOfRow)
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
    }

    /// - Parameter write: Writes one value.
    package mutating func add(_ write: (inout JSONWriter) -> Void) {
        write(&writer)
        count += 1
    }

    /// - Parameter next: The cursor of the next page; `nil` on the last page.
    package mutating func ended(next: String?, asOf: Int64, _ references: References) -> Gate.Computed {
        writer.endArray()
        writer.key("next")
        if let next { writer.value(next) } else { writer.null() }
        writer.field("asOf", references.place(asOf))
        writer.endObject()
        return Gate.Computed(body: writer.bytes, count: count, asOf: asOf)
    }

    /// A page of items that are written the same way.
    package static func page<Item>(
        _ items: [Item], next: String?, asOf: Int64, _ references: References,
        _ write: (Item, inout JSONWriter) -> Void
    ) -> Gate.Computed {
        var page = PageWriter(rows: items.count)
        for item in items { page.add { write(item, &$0) } }
        return page.ended(next: next, asOf: asOf, references)
    }
}
