import Glibc
import JSON
import Testing

/// Python's `json` module judges what is written and what is read.
@Suite struct JSONForeignTests {
    private static let python = getenv("WHEREABOUTS_PYTHON").map { String(cString: $0) } ?? "python3"
    private static let hasPython = system("\(python) -c 'import json' >/dev/null 2>&1") == 0

    @Test(.enabled(if: hasPython, "There is no Python 3 to compare with."))
    func `what is written goes through Python's json module and comes back the same`() throws {
        var random = SplitMix(state: 42)
        var texts: [[UInt8]] = []
        for _ in 0..<2000 {
            var writer = JSONWriter()
            writeAny(to: &writer, depth: 0, using: &random)
            texts.append(writer.bytes)
        }
        let folder = try #require(temporaryFolder())
        defer { _ = system("rm -r '\(folder)'") }
        let program = """
            import json, sys
            for line in open(sys.argv[1], encoding="utf-8", newline="\\n"):
                print(json.dumps(json.loads(line)))
            """
        write(texts, toFile: "\(folder)/ours")
        write([Array(program.utf8)], toFile: "\(folder)/program.py")
        try #require(system("\(Self.python) \(folder)/program.py \(folder)/ours > \(folder)/theirs") == 0)
        let theirs = ConformanceCase.contents(ofFile: "\(folder)/theirs").split(separator: UInt8(ascii: "\n"))
        try #require(theirs.count == texts.count)
        for (our, their) in zip(texts, theirs) {
            #expect(try same(JSONDocument.parse(our).root, JSONDocument.parse(Array(their)).root))
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

    private func temporaryFolder() -> String? {
        var template = Array("/tmp/json-XXXXXX".utf8CString)
        return mkdtemp(&template) == nil ? nil : String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
    }

    private func write(_ lines: [[UInt8]], toFile path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        let bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
        #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }
}
