import Testing

@testable import Service
@testable import WebPage

@Suite struct HTMLTests {
    @Test func `no text and no attribute becomes markup`() {
        var html = HTML()
        html.element("a", ["href": "/?a=1&b=\"'><script>", "hidden": "", "title": nil]) { html in
            html.text("<b>&amp; \u{1}\u{85}\n")
            html.element("br")
        }
        #expect(
            html.source
                == "<a href=\"/?a=1&amp;b=&quot;&#39;&gt;&lt;script&gt;\" hidden>&lt;b&gt;&amp;amp; \u{FFFD}\u{FFFD}\n<br></a>"
        )
    }

    @Test(
        arguments: [
            ("/day/2026-05-04", [("plain", "true")], "/day/2026-05-04?plain=true"),
            ("/audit", [("who", "a b&c=ü")], "/audit?who=a%20b%26c%3D%C3%BC"), ("/now", [], "/now"),
        ] as [(String, [(String, String)], String)])
    func `an address has every other character escaped`(path: String, query: [(String, String)], link: String) {
        #expect(PageEndpoints.link(path, query.map { (name: $0.0, value: $0.1) }) == link)
    }
}
