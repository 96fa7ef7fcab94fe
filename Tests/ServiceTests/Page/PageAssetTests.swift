import GZIP
import HTTPServer
import TestSupport
import Testing

@testable import Answers
@testable import Service
@testable import WebPage

/// The files of the page: which there are, and how a browser may keep them.
@Suite struct PageAssetTests {
    private static let folder = "\(Repository.root)/Sources/WebPage/Assets"

    @Test func `every file of the folder is served by its name, and nothing else`() throws {
        let files = Set(names(in: Self.folder))
        #expect(Set(PageFiles.embedded.keys) == files)
        for name in files {
            let isSame = PageFiles.embedded[name] == (try contents(ofFile: "\(Self.folder)/\(name)"))
            #expect(isSame, "\(name): the program has an older file; build it again.")
        }
        let house = try ServiceUnderTest()
        #expect(house.send("GET", "/assets/main.js", as: nil).status == 200)
        #expect(house.send("GET", "/assets/page_assets.c", as: nil).status == 404)
        #expect(house.send("GET", "/assets/..%2fPackage.swift", as: nil).status == 404)
    }

    @Test func `a file under its hash may be kept for ever, and one without is asked about`() throws {
        let house = try ServiceUnderTest()
        let hash = PageAssets().hash
        let kept = house.send("GET", "/assets/\(hash)/main.js", as: nil)
        #expect(kept.status == 200 && kept.header("Cache-Control") == "public, max-age=31536000, immutable")
        #expect(kept.header("Content-Type") == "text/javascript; charset=utf-8")
        #expect(kept.header("X-Content-Type-Options") == "nosniff")
        for target in ["/assets/main.js", "/assets/0123456789abcdef/main.js", "/offline.js", "/favicon.ico"] {
            let answer = house.send("GET", target, as: nil)
            #expect(answer.status == 200 && answer.header("Cache-Control") == "no-cache", "\(target)")
            let tag = try #require(answer.header("ETag"))
            let again = house.send("GET", target, as: nil, headers: [("If-None-Match", "\"x\", W/\(tag)")])
            #expect(again.status == 304 && again.body.isEmpty)
        }
        let packed = house.send("GET", "/assets/main.js", as: nil, headers: [("Accept-Encoding", "gzip")])
        #expect(packed.header("Content-Encoding") == "gzip" && packed.body.count < kept.body.count)
        #expect(packed.body.starts(with: [0x1F, 0x8B]))
    }

    @Test func `scripts are sent without comments and indents`() throws {
        let house = try ServiceUnderTest()
        let script = house.send("GET", "/assets/kit.js", as: nil).text
        #expect(!script.contains("\n//") && !script.contains("\n  ") && script.contains("export "))
    }

    /// Before it is ready, the service worker must store every file that the frame loads without a network.
    @Test func `the service worker names the files of the frame, and each of them is served`() throws {
        let house = try ServiceUnderTest()
        let script = house.send("GET", "/offline.js", as: nil).text
        let line = try #require(script.split(separator: "\n").first { $0.hasPrefix("const FILES = [") })
        let files = line.matches(of: /'([^']+)'/).map { String($0.1) }
        let hash = PageAssets().hash
        for name in ["main.js", "page.css", "strings.en.json", "strings.de.json", "api.js", "kit.js"] {
            #expect(files.contains("/assets/\(hash)/\(name)"), "\(files)")
        }
        for file in files {
            #expect(house.send("GET", file, as: nil).header("Cache-Control")?.contains("immutable") == true, "\(file)")
        }
        #expect(Set(files).count == files.count)
        #expect(!files.contains { $0.contains("offline.js") || $0.contains("/view-") })
    }

    @Test func `without Debian's Leaflet the page has everything else`() {
        let assets = PageAssets(leaflet: "/nowhere")
        #expect(assets.address(of: "leaflet.js") == nil && assets.address(of: "main.js") != nil)
        #expect(assets.hash != PageAssets().hash || PageAssets().address(of: "leaflet.js") == nil)
    }

    @Test func `both languages have the same texts`() {
        let names = PageText.names
        #expect(names["en"] == names["de"] && (names["en"]?.count ?? 0) > 50)
    }
}
