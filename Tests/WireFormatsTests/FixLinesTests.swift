import Testing
import Whereabouts

@testable import WireFormats

@Suite struct FixLinesTests {
    private func items(_ text: String, pieceBytes: Int = 7) -> [FixLines.Item] {
        var lines = FixLines(now: now)
        var items: [FixLines.Item] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            items += lines.feed(rest.prefix(pieceBytes))
            rest = rest.dropFirst(pieceBytes)
        }
        return items + lines.finish()
    }

    private let line = """
        {"id":"a-0-0","user":"anna-0","timestamp":1767538800.0,"latitude":35.6651326,"longitude":139.7667976,\
        "horizontalAccuracy":35.0,"receivedAt":1767538801.087}
        """

    @Test(arguments: [1, 7, 100_000])
    func `each line is a fix of its person, however the bytes come`(pieceBytes: Int) throws {
        let items = items("\u{FEFF}\(line)\r\n\n  \n\(line)", pieceBytes: pieceBytes)
        #expect(items.map(\.lineNumber) == [1, 4])
        #expect(items.allSatisfy { $0.user?.text == "anna-0" })
        let fix = try #require(items.first?.report.fix)
        #expect(fix.clientID == "a-0-0" && fix.horizontalAccuracy == 35 && fix.remainder == nil)
        #expect(fix.timestamp.milliseconds == 1_767_538_800_000)
        #expect(fix.receivedAt?.milliseconds == 1_767_538_801_087)
    }

    @Test func `a bad line is rejected alone`() {
        let items = items(
            [
                line, "{", "[]", #"{"user":"Anna Ampère","timestamp":1767538800,"latitude":1,"longitude":2}"#,
                #"{"timestamp":1767538800,"latitude":1,"longitude":2}"#, #"{"user":"b"}"#, line,
            ].joined(separator: "\n") + "\n")
        #expect(
            items.map(\.report.description) == [
                "fix(…)", "rejected(notJSON)", "rejected(unknownType)", "rejected(missingField)", "fix(…)",
                "rejected(missingField)", "fix(…)",
            ])
        #expect(items.map(\.user?.text) == ["anna-0", nil, nil, nil, nil, "b", "anna-0"])
        #expect(items.map(\.lineNumber) == Array(1...7))
    }

    @Test(arguments: [1000, 1 << 20])
    func `a line beyond the bound is passed over`(pieceBytes: Int) {
        let atBound = line + String(repeating: " ", count: FixLines.lineBytes - line.utf8.count)
        let items = items("\(atBound)\n\(atBound) \n\(line)\n\(atBound) ", pieceBytes: pieceBytes)
        #expect(
            items.map(\.report.description) == ["fix(…)", "rejected(tooLarge)", "fix(…)", "rejected(tooLarge)"])
    }

    @Test func `a fix written as a line reads back the same`() throws {
        let fix = try #require(items(line).first?.report.fix)
        let user = try #require(Handle("anna-0"))
        let written = FixLines.line(fix, user: user)
        #expect(written.last == UInt8(ascii: "\n"))
        let again = items(String(decoding: written, as: UTF8.self))
        #expect(again == [FixLines.Item(lineNumber: 1, user: user, device: nil, report: .fix(fix, answering: nil))])
    }
}
