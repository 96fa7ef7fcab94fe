import Testing

@testable import LocationPush

@Suite struct RetryAfterTests {
    /// The moment of RFC 9110, section 5.6.7, in its three forms.
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func `a date is read in all its forms`(text: String) throws {
        let moment = try #require(RetryAfter(text))
        #expect(moment == .date(784_111_777))
        #expect(moment.seconds(atUnixMs: 784_111_770_000) == 7)
        #expect(moment.seconds(atUnixMs: 784_111_776_001) == 1)
        #expect(moment.seconds(atUnixMs: 784_111_778_000) == 0)
        #expect(moment.seconds(atUnixMs: 0) == 86_400)
    }

    @Test func `seconds are bounded, and anything else is passed over`() {
        #expect(RetryAfter("120")?.seconds(atUnixMs: 5) == 120)
        #expect(RetryAfter("-1")?.seconds(atUnixMs: 5) == 0)
        #expect(RetryAfter("999999999")?.seconds(atUnixMs: 5) == 86_400)
        for text in ["", "soon", "1.5", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37 GMT+1", "999999999999999999999"]
        {
            #expect(RetryAfter(text) == nil)
        }
    }
}
