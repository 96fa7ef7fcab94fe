import Testing

@testable import Posting

/// Valid and invalid URLs for posting.
@Suite struct PostURLTests {
    @Test(arguments: [
        ("https://hooks.example.org", "https://hooks.example.org/", "https://hooks.example.org"),
        (
            "HTTPS://Hooks.Example.Org:443/In?key=A%20b", "https://hooks.example.org/In?key=A%20b",
            "https://hooks.example.org"
        ),
        ("http://localhost:9000/a/../b", "http://localhost:9000/b", "http://localhost:9000"),
        ("https://[2001:DB8::1]:8443/", "https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443"),
        // Other ways to write 127.0.0.1 are that very address.
        ("http://0x7f000001:81/", "http://127.0.0.1:81/", "http://127.0.0.1:81"),
        ("https:///path", "https://path/", "https://path"),
        ("http://127.1/", "http://127.0.0.1/", "http://127.0.0.1"),
    ])
    func `a URL has one form, and one origin`(given: String, text: String, origin: String) throws {
        let url = try #require(PostURL(given))
        #expect(url.text == text && "\(url.origin)" == origin)
        #expect(PostURL(url.text) == url && Origin(origin) == url.origin)
    }

    @Test(arguments: [
        "", "hooks.example.org", "//hooks.example.org", "ftp://example.org/", "file:///etc/passwd", "gopher://a/",
        "https://", "https://user@example.org/", "https://user:pass@example.org/",
        "https://example.org/#part", "https://exämple.org/", "https://example.org/a b", "https://example.org/\r\nX: 1",
        "https://example.org:0/", "https://example.org:65536/", "https://example.org:x/", "https://[fe80::1%25eth0]/",
    ])
    func `anything else is none`(given: String) { #expect(PostURL(given) == nil) }

    @Test(arguments: ["https://example.org/path", "https://example.org/?a=1", "example.org"])
    func `an origin has no path`(given: String) { #expect(Origin(given) == nil) }
}
