import Glibc
import JSON
import TestSupport
import Testing

/// Writer and reader, checked with Python's `json` module.
@Suite struct JSONForeignTests {
    @Test(.enabled(if: Foreign.hasPython(with: "json"), "There is no Python 3 to compare with."))
    func `what is written goes through Python's json module and comes back the same`() throws {
        var random = SplitMix(42)
        var texts: [[UInt8]] = []
        for _ in 0..<2000 {
            var writer = JSONWriter()
            writeAny(to: &writer, depth: 0, using: &random)
            texts.append(writer.bytes)
        }
        let program = """
            import json, sys
            for line in open(sys.stdin.fileno(), encoding="utf-8", newline="\\n"):
                print(json.dumps(json.loads(line)))
            """
        let ours = texts.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
        let theirs = try Foreign.python(program, input: ours).split(separator: "\n")
        try #require(theirs.count == texts.count)
        for (our, their) in zip(texts, theirs) {
            #expect(try same(JSONDocument.parse(our).root, JSONDocument.parse(Array(their.utf8)).root))
        }
    }

    private func writeAny(to writer: inout JSONWriter, depth: Int, using random: inout SplitMix) {
        switch Int.random(in: 0..<(depth < 4 ? 9 : 6), using: &random) {
        case 0: writer.null()
        case 1: writer.value(Bool.random(using: &random))
        case 2: writer.value(Int64(bitPattern: random.next() >> UInt64.random(in: 0..<64, using: &random)))
        case 3: writer.unixSeconds(milliseconds: Int64(random.next() >> 22))
        case 4:
            let number = Double(bitPattern: random.next())
            writer.value(number.isFinite ? number : 0.25)
        case 5: writer.value(anyString(using: &random))
        case 6:
            writer.beginArray()
            for _ in 0..<Int.random(in: 0..<5, using: &random) {
                writeAny(to: &writer, depth: depth + 1, using: &random)
            }
            writer.endArray()
        default:
            writer.beginObject()
            for member in 0..<Int.random(in: 0..<5, using: &random) {
                writer.key("\(member)" + anyString(using: &random))
                writeAny(to: &writer, depth: depth + 1, using: &random)
            }
            writer.endObject()
        }
    }

    private func anyString(using random: inout SplitMix) -> String {
        var result = ""
        for _ in 0..<Int.random(in: 0..<12, using: &random) {
            let limit: UInt32 = Bool.random(using: &random) ? 0x80 : 0x110000
            if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &random)) {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private func same(_ one: JSONValue, _ other: JSONValue) -> Bool {
        if let ones = one.array, let others = other.array {
            return one.count == other.count && zip(ones, others).allSatisfy { same($0, $1) }
        }
        if let ones = one.members, let others = other.members {
            return one.count == other.count
                && zip(ones, others).allSatisfy { Array($0.key.utf8) == Array($1.key.utf8) && same($0.value, $1.value) }
        }
        return one.isNull == other.isNull && one.bool == other.bool && one.int == other.int
            && one.double?.bitPattern == other.double?.bitPattern
            && one.string.map { Array($0.utf8) } == other.string.map { Array($0.utf8) }
    }
}
