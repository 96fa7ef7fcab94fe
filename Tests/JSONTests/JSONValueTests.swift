import JSON
import Testing

@Suite struct JSONValueTests {
    private func root(_ text: String) throws -> JSONValue {
        try JSONDocument.parse(Array(text.utf8)).root
    }

    @Test func `members are found by key, past nested ones`() throws {
        let fix = try root(#"{"a":{"lat":1,"x":[{"lat":2}]},"lat":52.5,"lon":13,"name":"caf\u00e9","none":null}"#)
        #expect(fix["lat"]?.double == 52.5)
        #expect(fix["lon"]?.double == 13)
        #expect(fix["name"]?.string == "café")
        #expect(fix["none"]?.isNull == true)
        #expect(fix["absent"] == nil)
        #expect(fix["a"]?["x"]?.array?.map { $0["lat"]?.int } == [2])
        #expect(fix["lat"]?["lat"] == nil)
        #expect(fix.count == 5)
        #expect(fix.members?.map(\.key) == ["a", "lat", "lon", "name", "none"])
    }

    @Test func `a value is only what it was written as`() throws {
        let array = try #require(root(#"[null,true,false,1,1.0,"1",[],{}]"#).array).map { $0 }
        #expect(array.map(\.kind) == [.null, .bool, .bool, .integer, .double, .string, .array, .object])
        #expect(array.map(\.isNull) == [true, false, false, false, false, false, false, false])
        #expect(array.map(\.bool) == [nil, true, false, nil, nil, nil, nil, nil])
        #expect(array.map(\.double) == [nil, nil, nil, 1, 1, nil, nil, nil])
        #expect(array.map(\.int) == [nil, nil, nil, 1, 1, nil, nil, nil])
        #expect(array.map(\.string) == [nil, nil, nil, nil, nil, "1", nil, nil])
        #expect(array.map { $0.array == nil } == [true, true, true, true, true, true, false, true])
        #expect(array.map { $0.members == nil } == [true, true, true, true, true, true, true, false])
    }

    /// Every number with a fraction of 0 is whole; 2⁶³ fits no `Int64`, −2⁶³ does.
    @Test func `a whole number is an integer however it was written`() throws {
        let text =
            "[12,12.0,1.2e1,12.5,-0,-0.0,9223372036854775807,9223372036854775808,-9223372036854775808,"
            + "9.2233720368547758e18,1e300]"
        let array = try #require(root(text).array)
        #expect(array.map(\.int) == [12, 12, 12, nil, 0, 0, .max, nil, .min, nil, nil])
        #expect(array.map(\.double)[7...] == [0x1p63, -0x1p63, 0x1p63, 1e300])
    }

    @Test func `the sign of a negative zero with a fraction is kept`() throws {
        #expect(try root("-0.0").double?.sign == .minus)
    }

    @Test func `a value outlives the names it was reached by`() throws {
        var value: JSONValue?
        do {
            value = try root(#"{"a":["deep"]}"#)["a"]
        }
        #expect(value?.array?.first { _ in true }?.string == "deep")
    }

    @Test func `an array knows how many it holds`() throws {
        let array = try #require(root("[1,[2,3],4]").array)
        #expect(array.underestimatedCount == 3)
        #expect(Array(array).count == 3)
        #expect(try root("[]").array?.underestimatedCount == 0)
    }

    @Test func `strings keep what escapes stand for`() throws {
        let text = #"["\u0000","\"\\\/\b\f\n\r\t","\ud83d\ude00","\u2028"]"#
        #expect(try root(text).array?.map(\.string) == ["\0", "\"\\/\u{8}\u{C}\n\r\t", "😀", "\u{2028}"])
    }
}
