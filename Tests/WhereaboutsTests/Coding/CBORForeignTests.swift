import Glibc
import TestSupport
import Testing
import Whereabouts

/// Writer and reader, checked with `cbor2` of PyPI.
@Suite struct CBORForeignTests {
    @Test(.enabled(if: Foreign.hasPython(with: "cbor2"), "There is no Python with cbor2 to compare with."))
    func `random trees are the same bytes as cbor2's canonical ones, both ways`() throws {
        var random = SplitMix(1)
        let ours = (0..<2000).map { _ in Self.tree(depth: 0, using: &random) }.map(\.encoded)
        let program = """
            import cbor2, random, struct, sys
            for line in sys.stdin:
                print(cbor2.dumps(cbor2.loads(bytes.fromhex(line)), canonical=True).hex())
            random = random.Random(2)
            def tree(depth):
                kind = random.randrange(10 if depth < 4 else 7)
                if kind == 0: return random.getrandbits(random.randrange(65))
                if kind == 1: return -1 - random.getrandbits(random.randrange(65))
                if kind == 2: return random.choice([None, True, False])
                if kind == 3: return struct.unpack('>d', random.randbytes(8))[0]
                if kind == 4: return struct.unpack('>f', random.randbytes(4))[0]
                if kind == 5: return random.randbytes(random.choice([0, 5, 23, 24, 255, 256, 300]))
                if kind == 6: return ''.join(random.choice('aßあ😀 ') for _ in range(random.randrange(9)))
                if kind == 7: return [tree(depth + 1) for _ in range(random.randrange(9))]
                return {random.randrange(500): tree(depth + 1) for _ in range(random.randrange(9))}
            print('theirs')
            for _ in range(2000):
                print(cbor2.dumps(tree(0), canonical=True).hex())
            """
        let answers = try Foreign.python(program, input: ours.map { hex($0) + "\n" }.joined())
            .split(separator: "\n")
        try #require(answers.count == 4001 && answers[2000] == "theirs")
        for (our, their) in zip(ours, answers) { #expect(hex(our) == their) }
        for their in answers[2001...] {
            let input = try #require(bytes(hex: their))
            #expect(try CBORValue.read(input).encoded == input)
        }
    }

    /// The values that both libraries can represent; cbor2 turns some simple values and tags into its own objects. Map
    /// keys are integers, as in the log: cbor2 sorts keys by length first (RFC 7049), which is the same order for
    /// integers.
    private static func tree(depth: Int, using random: inout SplitMix) -> CBORValue {
        switch Int.random(in: 0..<(depth < 4 ? 9 : 7), using: &random) {
        case 0: return .unsigned(random.next() >> UInt64.random(in: 0..<64, using: &random))
        case 1: return .negative(random.next() >> UInt64.random(in: 0..<64, using: &random))
        case 2: return .simple(UInt8.random(in: 20...22, using: &random))
        case 3: return .float(Double(bitPattern: random.next()))
        case 4: return .float(Double(Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))))
        case 5: return .bytes((0..<Int.random(in: 0...80, using: &random)).map { UInt8(truncatingIfNeeded: $0) })
        case 6:
            let letters: [Character] = ["a", "ß", "あ", "😀", "\0"]
            return .text(
                String(
                    (0..<Int.random(in: 0...8, using: &random)).compactMap { _ in letters.randomElement(using: &random)
                    }))
        case 7:
            return .array(
                (0..<Int.random(in: 0...8, using: &random)).map { _ in tree(depth: depth + 1, using: &random) })
        default:
            let keys = Set(
                (0..<Int.random(in: 0...8, using: &random)).map { _ in UInt64.random(in: 0...500, using: &random) })
            return .map(keys.sorted().map { .init(key: .unsigned($0), value: tree(depth: depth + 1, using: &random)) })
        }
    }
}
