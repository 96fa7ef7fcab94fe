import Testing

@testable import WhereaboutsTool

@Suite struct TableTests {
    @Test func `columns are as wide as their widest cell, numbers stand right`() {
        var table = Table("NAME", ">COUNT", "NOTE")
        table.add("a", "7", "x")
        table.add("longer", "1,234", "")
        let lines = ["NAME    COUNT  NOTE", "a           7  x", "longer  1,234", ""]
        #expect(table.text == lines.joined(separator: "\n"))
    }

    @Test func `a table without rows shows nothing`() {
        #expect(Table("NAME").text.isEmpty)
    }

    /// East Asian Width (UAX #11): 東 and 京 are wide; the combining acute belongs to its letter.
    @Test func `wide characters take two places, combined ones one`() {
        #expect(Table.width("東京") == 4)
        #expect(Table.width("Me\u{301}xico") == 6)
    }

    @Test func `a name cannot move the cursor or turn the line around`() {
        var table = Table("NAME")
        table.add("a\u{1B}[2Jb\n\u{202E}c")
        #expect(table.text == "NAME\na [2Jb  c\n")
    }

    @Test func `distances and counts are shown with few digits`() {
        #expect(
            [0, 12.4, 999, 1000, 5_230, 340_400].map { Text.meters($0) } == [
                "0 m", "12 m", "999 m", "1.0 km", "5.2 km", "340 km",
            ])
        #expect(
            [0, 999, 1000, 234_908, -1_234_567].map { Text.count($0) } == [
                "0", "999", "1,000", "234,908", "-1,234,567",
            ])
        #expect(Text.wrapped("one two three four", width: 9) == "one two\nthree\nfour")
    }
}
