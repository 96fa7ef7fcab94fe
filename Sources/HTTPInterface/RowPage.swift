package import Answers
import HTTPServer
package import Replies
import Whereabouts

/// One page of a list whose rows have ascending numbers; the cursor is the number of the last row.
package struct RowPage {
    /// The most rows of a page.
    static let mostRows: Int64 = 1000

    private let references: References
    /// The number of the last row of the page before; 0 on the first page.
    private let after: Int64
    /// The most rows of this page.
    private let limit: Int64
    /// The number of the last row written.
    private var last: Int64 = 0
    /// Whether there are rows after the last one of this page.
    private var isCut = false
    private var page = PageWriter(rows: 0)

    /// - Throws: 400 if `limit` or `after` is malformed.
    package init(_ exchange: Exchange, _ references: References) throws(Problem) {
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

    /// Writes the next row if it is on this page.
    ///
    /// - Parameters:
    ///   - number: More than 0 and than the number of the row before.
    ///   - item: Is made only for a row of this page.
    package mutating func add<Item: Reply>(_ number: Int64, _ item: @autoclosure () -> Item) {
        guard number > after, !isCut else { return }
        guard page.count < limit else {
            isCut = true
            return
        }
        page.add(item())
        last = number
    }

    /// The page as an answer, with `next` if a row was left out.
    package mutating func ended(asOf: Int64) -> Gate.Computed {
        page.ended(next: isCut ? references.name(last, .row).text : nil, asOf: asOf, references)
    }
}
