import Glibc
import JSON
import TestSupport
import Testing

@Suite struct JSONWriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `members and elements are separated, nesting is closed`() {
        let text = written {
            $0.beginObject()
            $0.field("a", 1)
            $0.field("absent", nil as String?)
            $0.array("b") {
                $0.value("x")
                $0.value(true)
                $0.null()
                $0.beginArray()
                $0.endArray()
                $0.beginObject()
                $0.endObject()
            }
            $0.object("c") { $0.field("d", 0.5) }
            $0.field("e", raw: Array("[1,2]".utf8))
            $0.field("f", milliseconds: 1_732_147_200_120)
            $0.endObject()
        }
        #expect(text == #"{"a":1,"b":["x",true,null,[],{}],"c":{"d":0.5},"e":[1,2],"f":1732147200.12}"#)
    }

    /// Shortest decimals as `repr` of Python 3 gives them, but for whole numbers.
    @Test(arguments: [
        (5.0, "5"), (-5.0, "-5"), (0.0, "0"), (-0.0, "-0.0"), (0.1, "0.1"), (52.520008, "52.520008"),
        (1e15, "1000000000000000"),
        (9_007_199_254_740_991, "9007199254740991"), (1e21, "1e+21"), (1e-7, "1e-07"), (0x1p-1074, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"), (0.30000000000000004, "0.30000000000000004"),
    ])
    func `a number is written in its shortest form`(number: Double, text: String) {
        #expect(written { $0.value(number) } == text)
    }

    @Test(
        arguments: [
            (0, "0"), (1, "0.001"), (10, "0.01"), (100, "0.1"), (1000, "1"), (-1, "-0.001"), (-1500, "-1.5"),
            (1_732_147_200_123, "1732147200.123"), (1_732_147_200_000, "1732147200"),
            (1_732_147_200_050, "1732147200.05"),
            (.min, "-9223372036854775.808"), (.max, "9223372036854775.807"),
        ] as [(Int64, String)])
    func `milliseconds become seconds exactly`(milliseconds: Int64, text: String) {
        #expect(written { $0.unixSeconds(milliseconds: milliseconds) } == text)
    }

    @Test(arguments: [(.min, "-9223372036854775808"), (.max, "9223372036854775807"), (0, "0")] as [(Int64, String)])
    func `integers of any size are written`(integer: Int64, text: String) {
        #expect(written { $0.value(integer) } == text)
    }

    /// The standard library's `description` is the judge: the shortest that reads back, by another way.
    @Test func `decimals of any number of places are written in their shortest form`() throws {
        var random = SplitMix(7)
        var scale = 1.0
        for _ in 0...16 {
            for bound in [10, 1000, 100_000, 1_000_000_000, 1 << 53] as [UInt64] {
                for _ in 0..<200 {
                    let number = Double(random.next() % bound) / scale * (random.next() % 2 == 0 ? 1 : -1)
                    for near in [number, number.nextUp, number.nextDown] where near != near.rounded() {
                        #expect(written { $0.value(near) } == near.description)
                    }
                }
            }
            scale *= 10
        }
    }

    @Test func `every power of ten and its neighbors are written in full`() {
        var power: Int64 = 1
        for _ in 0...18 {
            for integer in [power - 1, power, power + 1, -power] {
                #expect(written { $0.value(integer) } == "\(integer)")
                // Greater ones have an exponent.
                if integer.magnitude < 1 << 53 { #expect(written { $0.value(Double(integer)) } == "\(integer)") }
            }
            power = power.multipliedReportingOverflow(by: 10).partialValue
        }
    }

    @Test func `a text may become longer than its capacity, and a copy of a writer has bytes of its own`() {
        for length in [0, 1, 59, 60, 61, 255, 256, 257, 4095, 4096, 4097, 100_000] {
            let text = String(repeating: "é", count: length)
            for capacity in [0, 1, 300, 100_000] {
                var writer = JSONWriter(capacity: capacity)
                writer.beginArray()
                writer.value(text)
                var copy = writer
                for number in 0..<300 { writer.value(Double(number) / 8) }
                writer.raw(Array(#"{"a":null}"#.utf8))
                writer.endArray()
                copy.endArray()
                let numbers = (0..<300).map { "\(Double($0) / 8)".replacing(/\.0$/, with: "") }
                let expected = "[\"\(text)\",\(numbers.joined(separator: ",")),{\"a\":null}]"
                #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
                #expect(String(decoding: copy.bytes, as: UTF8.self) == "[\"\(text)\"]")
            }
        }
    }

    @Test func `quotes, backslashes and control characters are escaped, all else stands`() {
        #expect(
            written { $0.value("\"\\\u{8}\t\n\u{C}\r\0\u{1F}\u{7F}/é\u{2028}😀") }
                == "\"\\\"\\\\\\b\\t\\n\\f\\r\\u0000\\u001f\u{7F}/é\u{2028}😀\"")
        #expect(
            written {
                $0.beginObject(); $0.field("a\"b", "c"); $0.endObject()
            } == #"{"a\"b":"c"}"#)
    }

    @Test func `a number that JSON cannot hold stops the process`() async {
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.value(Double.nan)
        }
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.value(1)
        }
    }

    @Test func `what is written reads back the same`() throws {
        var random = SplitMix(7)
        for _ in 0..<20_000 {
            let bits = Double(bitPattern: random.next())
            let number = bits.isFinite ? bits : 0
            let integer = Int64(bitPattern: random.next() >> UInt64.random(in: 0..<64, using: &random))
            let string = String(
                String.UnicodeScalarView(
                    (0..<Int.random(in: 0..<20, using: &random)).compactMap { _ in
                        Unicode.Scalar(
                            UInt32.random(in: 0..<(Bool.random(using: &random) ? 0x80 : 0x110000), using: &random))
                    }))
            var writer = JSONWriter()
            writer.beginArray()
            writer.value(number)
            writer.value(integer)
            writer.value(string)
            writer.endArray()
            let read = Array(try #require(JSONDocument.parse(writer.bytes).root.array))
            #expect(read[0].double?.bitPattern == number.bitPattern)
            #expect(read[1].int == integer)
            #expect(read[2].string.map { Array($0.utf8) } == Array(string.utf8))
        }
    }
}
