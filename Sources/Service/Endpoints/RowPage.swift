import HTTPServer
import JSON
import Whereabouts

/// One page of a list whose rows have numbers and come in their order; the cursor names the last row.
struct RowPage {
    /// Rows of a page at the most.
    static let mostRows: Int64 = 1000

    private let references: References
    private let after: Int64
    private let limit: Int64
    private var last: Int64 = 0
    private var isCut = false
    private var page = PageWriter(rows: 0)

    /// - Throws: 400 for a `limit` or an `after` that is none.
    init(_ exchange: Exchange, _ references: References) throws(Problem) {
        self.references = references
        limit = try exchange.integer("limit", in: 1...Self.mostRows, default: Self.mostRows)
        if references.isPlain {
            after = try exchange.logNumber("after") ?? 0
        } else {
            after =
                try exchange.request.parameter("after").map { (text) throws(Problem) in
                    guard let row = references.number(text, .row) else { throw Cursor.unreadable }
                    return row
                } ?? 0
        }
    }

    /// Takes the next row, an object, if the page has come to it and has room.
    ///
    /// - Parameter number: above 0 and above that of the row before.
    mutating func add(_ number: Int64, _ write: (inout JSONWriter) -> Void) {
        guard number > after, !isCut else { return }
        guard page.count < limit else {
            isCut = true
            return
        }
        page.add { writer in
            writer.beginObject()
            write(&writer)
            writer.endObject()
        }
        last = number
    }

    mutating func ended(asOf: Int64) -> Gate.Computed {
        page.ended(next: isCut ? references.name(last, .row).text : nil, asOf: asOf, references)
    }
}
