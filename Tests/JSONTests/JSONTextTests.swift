import JSON
import TestSupport
import Testing

/// Each value knows its place in the text. The texts are written here, piece by piece, so each value's is known.
@Suite struct JSONTextTests {
    /// A written value: its text, and its children with their keys as written.
    private struct Written {
        var text: String
        var children: [(key: String?, value: Written)] = []
    }

    private static let scalars = [
        "null", "true", "false", "0", "-12", "9223372036854775808", "1.5e-7", #""""#, #""a b""#, #""}],{[: \"\\""#,
        #""caf\u00e9 é 𝄞""#,
    ]

    private static func space(_ chance: inout SplitMix) -> String {
        (0..<Int.random(in: 0...2, using: &chance)).map { _ in [" ", "\t", "\n", "\r"].randomElement(using: &chance)! }
            .joined()
    }

    private static func written(_ depth: Int, _ chance: inout SplitMix) -> Written {
        let kind = depth == 0 ? 0 : Int.random(in: 0...3, using: &chance)
        guard kind > 1 else { return Written(text: scalars.randomElement(using: &chance)!) }
        var whole = Written(text: kind == 2 ? "[" : "{")
        for index in 0..<Int.random(in: 0...4, using: &chance) {
            let value = written(depth - 1, &chance)
            var text = value.text
            var key: String?
            if kind == 3 {
                text = "\"\(index)\\\"\"\(space(&chance)):\(space(&chance))\(value.text)"
                key = text
            }
            whole.text += "\(index > 0 ? "," : "")\(space(&chance))\(text)\(space(&chance))"
            whole.children.append((key, value))
        }
        if whole.children.isEmpty { whole.text += space(&chance) }
        whole.text += kind == 2 ? "]" : "}"
        return whole
    }

    private func check(_ value: JSONValue, _ written: Written) {
        #expect(String(decoding: value.text, as: UTF8.self) == written.text)
        let children = value.array.map { Array($0) } ?? value.members.map { $0.map(\.value) } ?? []
        #expect(children.count == written.children.count)
        for (child, (key, expected)) in zip(children, written.children) {
            check(child, expected)
            guard let key else { continue }
            #expect(child.withText(withKey: true) { String(decoding: $0, as: UTF8.self) } == key)
        }
    }

    @Test func `each value of a thousand random texts has the text that was written for it`() throws {
        var chance = SplitMix(31)
        var nested = 0
        for _ in 0..<1000 {
            let written = Self.written(4, &chance)
            nested += written.children.isEmpty ? 0 : 1
            let text = "\(Self.space(&chance))\(written.text)\(Self.space(&chance))"
            check(try JSONDocument.parse(Array(text.utf8), keepsText: true).root, written)
        }
        #expect(nested > 300)
    }

    @Test func `a document that is larger than what a thread keeps has its texts too`() throws {
        let item = #"{"a": [1, "b"]}"#
        let text = "[\(Array(repeating: item, count: 100_000).joined(separator: " ,\n"))]"
        let items = try #require(try JSONDocument.parse(Array(text.utf8), keepsText: true).root.array)
        #expect(items.reduce(0) { $0 + ($1.text == Array(item.utf8) ? 1 : 0) } == 100_000)
    }
}
