import Testing
import Whereabouts

@Suite struct FeedBoundsTests {
    @Test(arguments: [(10, nil, 10), (10, 7, 7), (7, 10, 7)] as [(Int64, Int64?, Int64)])
    func `a feed is given as far as both its sources`(logged: Int64, told: Int64?, place: Int64) {
        #expect(FeedBounds.place(logged: logged, told: told) == place)
    }

    @Test(
        arguments: [
            ([], 3, nil), ([4, 5], 3, nil), ([4, 5, 6], 3, 5), ([6, 6, 6], 3, 5), ([4, 5, 6, 7], 3, 6),
        ] as [([Int64], Int, Int64?)])
    func `a full read may lack rows of its last number`(numbers: [Int64], limit: Int, complete: Int64?) {
        #expect(FeedBounds.complete(numbers, limit: limit) == complete)
    }

    @Test func `news of others need the scope that asks about people`() {
        #expect(FeedBounds.hasNews([.query, .audit]) && !FeedBounds.hasNews([.audit, .manage]))
    }
}
