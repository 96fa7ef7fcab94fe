import Testing
import Threading

@Suite struct RecentBatchesTests {
    private func followed(atMost bound: Int = 100) -> RecentBatches<Int64, String> {
        let recent = RecentBatches<Int64, String>(atMost: bound)
        recent.follow()
        return recent
    }

    private func add(_ numbers: ClosedRange<Int64>, to recent: RecentBatches<Int64, String>) {
        recent.append(Array(numbers), through: numbers.upperBound, "\(numbers.upperBound)")
    }

    @Test func `a follower gets each element once, whatever its limit`() {
        for limit in 3...20 {
            let recent = followed()
            for first in stride(from: Int64(1), through: 28, by: 3) { add(first...first + 2, to: recent) }
            var (got, place) = ([Int64](), Int64(0))
            while let (elements, mark) = recent.batch(after: place, limit: limit) {
                #expect(elements.count <= limit)
                #expect(mark == "\(elements.last ?? 0)")
                got += elements
                place = elements.last ?? .max
            }
            #expect(got == Array(1...30))
        }
    }

    @Test func `a follower within a batch gets the rest of it`() {
        let recent = followed()
        add(5...9, to: recent)
        #expect(recent.batch(after: 6, limit: 10)?.elements == [7, 8, 9])
        #expect(recent.batch(after: 4, limit: 10)?.elements == [5, 6, 7, 8, 9])
    }

    @Test func `what is not kept is not given`() {
        let unfollowed = RecentBatches<Int64, String>(atMost: 10)
        add(1...3, to: unfollowed)
        #expect(unfollowed.batch(after: 0, limit: 10) == nil)

        let recent = followed(atMost: 6)
        for first in [Int64(1), 4, 7] { add(first...first + 2, to: recent) }
        #expect(recent.batch(after: 0, limit: 10) == nil)
        #expect(recent.batch(after: 2, limit: 10) == nil)
        #expect(recent.batch(after: 3, limit: 10)?.elements == [4, 5, 6, 7, 8, 9])
        #expect(recent.batch(after: 3, limit: 2) == nil)
        #expect(recent.batch(after: 9, limit: 10) == nil)
        recent.forget(through: 6)
        #expect(recent.batch(after: 3, limit: 10) == nil)
        #expect(recent.batch(after: 6, limit: 10)?.elements == [7, 8, 9])
        recent.removeAll()
        #expect(recent.batch(after: 6, limit: 10) == nil)
        add(10...10, to: recent)
        #expect(recent.batch(after: 9, limit: 10)?.elements == [10])
    }

    @Test func `a batch larger than the bound is read from the file`() {
        let recent = followed(atMost: 4)
        add(1...2, to: recent)
        add(3...9, to: recent)
        #expect(recent.batch(after: 0, limit: 100) == nil)
        #expect(recent.batch(after: 2, limit: 100) == nil)
        add(10...11, to: recent)
        #expect(recent.batch(after: 9, limit: 100)?.elements == [10, 11])
    }

    @Test func `after a gap only what follows it is kept`() {
        let recent = followed()
        add(1...3, to: recent)
        add(6...7, to: recent)
        #expect(recent.batch(after: 0, limit: 10) == nil)
        #expect(recent.batch(after: 3, limit: 10) == nil)
        #expect(recent.batch(after: 5, limit: 10)?.elements == [6, 7])
    }
}
