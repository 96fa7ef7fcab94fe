import TestSupport
import Testing
import Whereabouts

/// Pages of rows of which some are hidden.
@Suite struct ShownRowsTests {
    /// All pages, one after the other, of the numbers from 0 up to `count`.
    private static func pages(_ count: Int, hidden: Set<Int>, limit: Int64, atOnce: Int64) -> [(rows: [Int], end: Int?)]
    {
        var pages: [(rows: [Int], end: Int?)] = []
        var after: Int?
        repeat {
            let page = ShownRows.page(upTo: limit, after: after, atOnce: atOnce, key: { $0 }) {
                !hidden.contains($0)
            } fetch: { after, most in
                #expect(most <= limit && most <= atOnce)
                return Array(((after ?? -1) + 1..<count).prefix(most))
            }
            pages.append((page.rows, page.end))
            after = page.end
        } while after != nil
        return pages
    }

    @Test(arguments: [1, 2, 7, 100] as [Int64], [1, 3, 1000] as [Int64])
    func `pages have each row that may be shown once, and no cursor is a hidden row`(limit: Int64, atOnce: Int64) {
        var dice = SplitMix(UInt64(limit * 31 + atOnce))
        for count in [0, 1, 5, 40] {
            for share in [0.0, 0.5, 0.95, 1] {
                let hidden = Set((0..<count).filter { _ in dice.chance(share) })
                let pages = Self.pages(count, hidden: hidden, limit: limit, atOnce: atOnce)
                #expect(pages.flatMap(\.rows) == (0..<count).filter { !hidden.contains($0) })
                for page in pages {
                    #expect(page.rows.count <= limit)
                    // A cursor on an empty page would disclose that rows are hidden.
                    if let end = page.end { #expect(page.rows.last == end && page.rows.count == limit) }
                }
            }
        }
    }

    @Test func `an answer over hidden rows alone looks like one over no rows`() {
        for hidden in [0, 1, 12] {
            let pages = Self.pages(hidden, hidden: Set(0..<hidden), limit: 4, atOnce: 4)
            #expect(pages.count == 1 && pages[0].rows == [] && pages[0].end == nil)
        }
    }

    private struct Damage: Error {}

    @Test func `a failure of a read, or of what gets the rows, is thrown`() {
        for failsToRead in [true, false] {
            var taken: [Int] = []
            #expect(throws: Damage.self) {
                _ = try ShownRows.each(upTo: 5, after: nil, atOnce: 5, key: { (row: Int) in row }) { _ in
                    true
                } fetch: { (_: Int?, _: Int) throws(Damage) -> [Int] in
                    if failsToRead { throw Damage() }
                    return [1, 2, 3]
                } take: { (row: Int) throws(Damage) in
                    if row == 2 { throw Damage() }
                    taken.append(row)
                }
            }
            #expect(taken == (failsToRead ? [] : [1]))
        }
    }
}
