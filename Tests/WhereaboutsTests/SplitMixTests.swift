import TestSupport
import Testing

@Suite struct SplitMixTests {
    /// The same numbers, but of a type for which only the standard library's generic functions exist.
    private struct Plain: RandomNumberGenerator {
        var mix: SplitMix
        mutating func next() -> UInt64 { mix.next() }
    }

    @Test func `draws are those of the standard library`() {
        var (own, standard) = (SplitMix(11), Plain(mix: SplitMix(11)))
        for round in 1...3000 {
            let width = Double(round) / 7
            #expect(
                Double.random(in: -width..<width, using: &own) == Double.random(in: -width..<width, using: &standard))
            #expect(Double.random(in: 0...width, using: &own) == Double.random(in: 0...width, using: &standard))
            #expect(Int.random(in: -round..<round, using: &own) == Int.random(in: -round..<round, using: &standard))
            #expect(Int.random(in: 0...round, using: &own) == Int.random(in: 0...round, using: &standard))
            // Half of the draws of such a width are drawn again.
            let wide = Int.min...(Int.min / 2 + Int.max)
            #expect(Int.random(in: wide, using: &own) == Int.random(in: wide, using: &standard))
            #expect(
                Int.random(in: Int.min...Int.max, using: &own) == Int.random(in: Int.min...Int.max, using: &standard))
        }
        #expect(own.next() == standard.next(), "as many numbers were drawn")
    }
}
