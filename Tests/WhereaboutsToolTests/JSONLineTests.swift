import JSON
import Testing

@testable import WhereaboutsTool

@Suite struct JSONLineTests {
    @Test func `JSON is written again as it was read`() throws {
        let text = #"{"a":[1,-2.5,1e+300,true,null,"x\"\n"],"b":{},"c":1732147200.123}"#
        #expect(String(decoding: try JSONDocument.parse(Array(text.utf8)).root.jsonLine, as: UTF8.self) == text + "\n")
    }
}
