import JSON
import Log
import TestSupport
import Testing

@testable import Service
@testable import WebPage

/// The background of the map: names of places, and the basemap.
@Suite struct MapEndpointTests {
    /// A file with two cells, written by hand.
    private static func file(index: String = #"{"hash":"abc"}"#) -> [UInt8] {
        func little(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(number >> (8 * $0) & 0xFF) } }
        let start = 16 + index.utf8.count + 24
        return Array("WHBMAP1\n".utf8) + little(index.utf8.count, 4) + little(2, 4) + Array(index.utf8)
            + little(0, 2) + little(0, 2) + little(start, 4) + little(3, 4)
            + little(2, 2) + little(647, 2) + little(start + 3, 4) + little(1, 4) + [1, 2, 3, 4]
    }

    @Test func `a cell is found by band and number, and no damaged file is read beyond its end`() throws {
        let basemap = try #require(Basemap(Self.file()))
        #expect(basemap.hash == "abc" && basemap.cell(0, 0) == [1, 2, 3] && basemap.cell(2, 647) == [4])
        #expect(basemap.cell(2, 646) == nil && basemap.cell(1, 0) == nil)
        #expect(Basemap(Array(Self.file().dropLast())) == nil && Basemap([]) == nil)
        #expect(Basemap(Self.file(index: "no JSON")) == nil)
        for length in 0..<40 { #expect(Basemap(Array(Self.file().prefix(length))) == nil) }
    }

    @Test func `the map's files need no one's name, and may be kept`() throws {
        let house = try ServiceUnderTest()
        let index = house.send("GET", "/basemap/index.json", as: nil)
        let basemap = try #require(Basemap(path: "\(Repository.root)/data/basemap.cells"))
        #expect(index.status == 200 && index.json?["hash"]?.string == basemap.hash)
        let tag = try #require(index.header("ETag"))
        #expect(house.send("GET", "/basemap/index.json", as: nil, headers: [("If-None-Match", tag)]).status == 304)
        let cell = house.send("GET", "/basemap/0/0?v=\(basemap.hash)", as: nil)
        #expect(cell.status == 200 && cell.header("Content-Encoding") == "gzip")
        #expect(cell.header("Cache-Control")?.contains("immutable") == true)
        #expect(cell.body.starts(with: [0x1F, 0x8B]))
        #expect(house.send("GET", "/basemap/0/0", as: nil).header("Cache-Control") == "no-cache")
        for target in ["/basemap/9/0", "/basemap/0/65535", "/basemap/0/70000", "/basemap/x/0"] {
            #expect(house.send("GET", target, as: nil).status == 404)
        }
    }

    /// The largest cities of Austria and nearby, as everyone knows them.
    @Test func `names come by population`() throws {
        let house = try ServiceUnderTest()
        let token = try house.addPerson("walker")
        let before = house.service.log.head
        let far = house.send("GET", "/v1/places/names?west=16&south=47.9&east=17.2&north=48.4&zoom=7", as: token).items
        #expect(Array(far.prefix(2).compactMap { $0["name"]?.string }) == ["Wien", "Bratislava"])
        let counts = far.compactMap { $0["population"]?.int }
        #expect(counts == counts.sorted(by: >) && far.count == MapEndpoints.namesMax)
        let near = house.send("GET", "/v1/places/names?west=16.3&south=48.1&east=16.5&north=48.3&zoom=12", as: token)
            .items
        #expect(near.contains { $0["name"]?.string == "Favoriten" })
        for (wrong, status) in [
            ("west=17&south=47&east=16&north=48", 422), ("west=1&south=2&east=3", 400),
            ("west=-181&south=0&east=0&north=1", 400),
        ] {
            #expect(house.send("GET", "/v1/places/names?\(wrong)", as: token).status == status)
        }
        #expect(house.service.log.head == before)
    }
}
