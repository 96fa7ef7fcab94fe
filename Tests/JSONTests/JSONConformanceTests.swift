import JSON
import TestSupport
import Testing

@Suite struct JSONConformanceTests {
    /// The table's expectations are RFC 8259 read by hand; the reasons are the parser's own names.
    @Test(arguments: ConformanceCase.all)
    func `a text is read or refused as the table says`(given: ConformanceCase) {
        #expect(outcome(of: given.text) == given.expectation)
    }

    @Test func `the table is not empty`() {
        #expect(ConformanceCase.all.count > 150)
    }

    @Test func `an object with a thousand keys is searched for equal ones`() {
        let members = (0..<1000).map { "\"key \($0)\":\($0)" }
        #expect(outcome(of: Array("{\(members.joined(separator: ","))}".utf8)) == "good")
        #expect(outcome(of: Array("{\(members.joined(separator: ",")),\"key 500\":1}".utf8)) == "duplicateKey")
    }

    @Test func `a refusal of broken UTF-8 names the byte`() {
        #expect(throws: JSONError.invalidUTF8(atByte: 2)) { try JSONDocument.parse([0x5B, 0x22, 0xFF, 0x22, 0x5D]) }
        #expect("\(JSONError.invalidUTF8(atByte: 2))" == "The JSON text is not UTF-8 at byte 2.")
    }

    @Test func `a text that follows a refused one is read`() {
        #expect(outcome(of: Array("{\"a\":[1,\"b\",{\"c\":1,\"c\":2}]}".utf8)) == "duplicateKey")
        #expect(outcome(of: Array("{\"a\":[1,\"b\",{\"c\":1,\"d\":2}]}".utf8)) == "good")
    }

    @Test func `a document larger than what a thread keeps is read`() throws {
        let text = Array("[\(Array(repeating: "\"0123456789\"", count: 200_000).joined(separator: ","))]".utf8)
        for _ in 0..<2 {
            let array = try #require(JSONDocument.parse(text).root.array)
            #expect(array.reduce(0) { $0 + ($1.string == "0123456789" ? 1 : 0) } == 200_000)
        }
    }

    @Test func `a hundred thousand damaged texts are each read or refused`() throws {
        let seed = Array(
            """
            {"_type":"location","lat":52.520008,"lon":13.404954,"tst":1732147200,"acc":5,"vac":3.5e0,"cog":-1,
            "t":"u","SSID":"caf\\u00e9 \\ud83d\\ude00","inregions":["home","école"],"x":{"y":[null,true,false,-0.0]}}
            """.utf8)
        var random = SplitMix(1)
        var read = 0
        for _ in 0..<100_000 {
            var text = seed
            for _ in 0...Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: text[place] = UInt8.random(in: 0...255, using: &random)
                case 1: text.remove(at: place)
                case 2: text.insert(Array("{}[]:,\"\\u0e-.".utf8).randomElement(using: &random) ?? 0, at: place)
                default: text.removeSubrange(place..<min(text.count, place + 7))
                }
            }
            guard let document = try? JSONDocument.parse(text) else { continue }
            read += 1
            #expect(visit(document.root, depth: 1) > 0)
        }
        #expect(read > 1000)
    }

    /// Reads everything below a value; counts the values.
    private func visit(_ value: JSONValue, depth: Int) -> Int {
        #expect(depth <= 33)
        _ = (value.kind, value.bool, value.double, value.int, value.string)
        var count = 1
        if let array = value.array { for element in array { count += visit(element, depth: depth + 1) } }
        if let members = value.members { for member in members { count += visit(member.value, depth: depth + 1) } }
        return count
    }

    private func outcome(of text: [UInt8]) -> String {
        do {
            _ = try JSONDocument.parse(text)
            return "good"
        } catch {
            return switch error {
            case .empty: "empty"
            case .byteOrderMark: "byteOrderMark"
            case .tooDeep: "tooDeep"
            case .invalidUTF8: "invalidUTF8"
            case .invalidString: "invalidString"
            case .invalidNumber: "invalidNumber"
            case .duplicateKey: "duplicateKey"
            case .tooLarge: "tooLarge"
            case .malformed: "malformed"
            }
        }
    }
}
