import TestSupport
import Testing

@testable import Whereabouts

/// Compares the table with a dictionary after the same operations.
@Suite struct NumberedTableTests {
    private struct Entry: Equatable, CustomStringConvertible {
        let number: Int64
        let text: String
        var description: String { "\(number): \(text)" }
    }

    private static func entries(_ table: NumberedTable<PersonID, String>) -> [Entry] {
        table.map { Entry(number: $0.key.rawValue, text: $0.value) }
    }

    private static func entries(_ dictionary: [Int64: String]) -> [Entry] {
        dictionary.map { Entry(number: $0.key, text: $0.value) }.sorted { $0.number < $1.number }
    }

    /// Numbers as they are handed out, with gaps of whole arrays, negative, and at both ends.
    private static let numbers: [[Int64]] = [
        Array(2..<300), Array(stride(from: 1, to: 20_000, by: 97)), [5, 6, 7, 1 << 40, 1 << 40 + 63, 1 << 40 + 64],
        [.min, -65, -64, -1, 0, 63, 64, 127, 128, .max],
    ]

    @Test(arguments: numbers) func `a table is a dictionary in the order of its ids`(numbers: [Int64]) {
        var dice = SplitMix(29)
        var table: NumberedTable<PersonID, String> = [:]
        var dictionary: [Int64: String] = [:]
        for step in 0..<4 * numbers.count {
            let number = numbers[Int.random(in: numbers.indices, using: &dice)]
            let (id, text) = (PersonID(rawValue: number), "a text that is not small: \(step)")
            switch Int.random(in: 0..<6, using: &dice) {
            case 0:
                table[id] = nil
                dictionary[number] = nil
            case 1:
                table[id]?.append("!")
                dictionary[number]?.append("!")
            case 2:
                #expect(table.change(id) { $0 = text } == (dictionary[number] != nil))
                if dictionary[number] != nil { dictionary[number] = text }
            default:
                table[id] = text
                dictionary[number] = text
            }
            #expect(table[id] == dictionary[number])
            #expect(table.count == dictionary.count && table.isEmpty == dictionary.isEmpty)
        }
        #expect(Self.entries(table) == Self.entries(dictionary))
        #expect(numbers.allSatisfy { table[PersonID(rawValue: $0)] == dictionary[$0] })
        #expect(table[PersonID(rawValue: 1 << 50)] == nil)
        for number in numbers { table[PersonID(rawValue: number)] = nil }
        #expect(table.isEmpty && table.startIndex == table.endIndex)
    }

    @Test func `the order of insertion does not matter`() {
        for numbers in Self.numbers {
            var (ascending, descending) = (NumberedTable<PersonID, String>(), NumberedTable<PersonID, String>())
            for number in numbers { ascending[PersonID(rawValue: number)] = "\(number)" }
            for number in numbers.reversed() { descending[PersonID(rawValue: number)] = "\(number)" }
            #expect(ascending == descending)
            #expect(Array(ascending.keys) == numbers.map { PersonID(rawValue: $0) })
            #expect(Array(ascending.values) == numbers.map(String.init))
        }
    }

    @Test func `a copy keeps what it had`() {
        var table: NumberedTable<PersonID, String> = [:]
        for number in 0..<Int64(200) { table[PersonID(rawValue: number)] = "\(number)" }
        let copy = table
        table[PersonID(rawValue: 70)]?.append("!")
        table[PersonID(rawValue: 71)] = nil
        _ = table.change(PersonID(rawValue: 5)) { $0 = "" }
        #expect(Self.entries(copy) == (0..<200).map { Entry(number: $0, text: "\($0)") })
        #expect(table[PersonID(rawValue: 70)] == "70!" && table.count == 199 && table[PersonID(rawValue: 5)] == "")
    }

    /// A walk over a table during which it changes sees it as it was, as with a dictionary.
    @Test func `it can change while it is walked over`() {
        var table: NumberedTable<PersonID, String> = [:]
        for number in 0..<Int64(200) { table[PersonID(rawValue: number)] = "\(number)" }
        for (id, _) in table where id.rawValue % 2 == 0 { table[id] = nil }
        #expect(Self.entries(table).map(\.number) == stride(from: 1, to: 200, by: 2).map { Int64($0) })
    }
}
