import Glibc
import JSON
import SQLite
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import Projections
@testable import Service
@testable import Tables

/// After an erasure nothing in any file says where the person was, and everything else still holds.
@Suite struct ForgettingTests {
    @Test func `no file holds a coordinate of an erased person, and the log still verifies`() throws {
        let village = try Village()
        let house = village.house
        // Every generation has rows, and every kind of record was made.
        village.rebuildTimeline()
        house.manage("POST", "/v1/projections/timeline/activate")
        village.reportNow()
        let friend = village.tokens[.oldFriend]
        let asked = house.send(
            "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"dinner in town"}"#)
        let url = try #require(asked["url"]?.string)
        #expect(house.send("GET", url, as: friend)["status"]?.string == "answeredFromLastKnown")
        for what in ["location", "track", "visits", "crossings", "audit"] {
            house.manage("GET", "/v1/people/walker/\(what)")
        }
        house.send(
            "POST", "/v1/fixes", as: village.phoneKey, #"{"timestamp":1,"latitude":48.20222,"longitude":16.34888}"#)
        try addNeighbour(to: house)
        _ = house.settled()

        // The search finds the data before the erasure.
        let needles = Self.needles(latitudes: [48.202, 48.212, 48.2125], longitudes: [16.348, 16.366, 16.3665])
        #expect(!Self.found(needles, in: house.directory).isEmpty)

        let head = house.service.log.head
        let erased = house.manage("DELETE", "/v1/people/walker")
        #expect(erased["erased"]?.bool == true)
        #expect(erased["number"]?.int ?? 0 > head)
        let words = needles + [Array("dinner in town".utf8), Array("garden-gate".utf8), Array("walker-phone".utf8)]
        #expect(Self.found(words, in: house.directory) == [], "while the service runs")

        let gone = house.send("GET", "/v1/people/walker/location", as: house.operatorToken)
        #expect(gone.status == 404)
        #expect(house.send("GET", url, as: friend).status == 404)
        #expect(house.send("GET", "/v1/people/walker/location", as: village.tokens[.subject]).status == 401)

        let verified = house.manage("GET", "/v1/verify")
        #expect(verified["ok"]?.bool == true, "\(verified.text)")
        #expect(verified["keys"]?["erased"]?.int ?? 0 > 0)
        #expect(verified["keys"]?["lost"]?.int == 0)
        let live = house.fingerprints()

        // The neighbour's data are unchanged, and a refold has the same result.
        #expect(house.manage("GET", "/v1/people/neighbour/track").items.count == 3)
        try house.restart {
            for name in ProjectionKind.all.map(\.name) + ["standing"] {
                Self.removeFiles(of: name, in: house.directory)
            }
        }
        let refolded = house.fingerprints()
        for name in ["current", "timeline", "streamIndex"] where name != "streamIndex" {
            #expect(refolded[name] == live[name], "\(name)")
        }
        #expect(Self.found(words, in: house.directory) == [], "after a refold")
        house.stop()
        #expect(Self.found(words, in: house.directory) == [], "after the stop")
    }

    @Test func `an erasure is not done while somebody still reads, and is done when nobody does`() throws {
        let village = try Village()
        let house = village.house
        let needles = Self.needles(latitudes: [48.202, 48.212], longitudes: [16.348, 16.366])
        let path = try #require(house.service.host.activePath(of: "timeline"))
        // The whole of the timeline is still in its write-ahead log, and a reader keeps it there.
        let reader = try Connection(path: path, access: .readOnly)
        try reader.snapshot { () throws(SQLiteError) in
            try reader.execute("SELECT count(*) FROM fix")
            let answer = house.send("DELETE", "/v1/people/walker", as: house.operatorToken)
            #expect(answer.status == 200 && answer["filesLeft"]?.bool == true, "\(answer.text)")
            #expect(!Self.found(needles, in: house.directory).isEmpty)
            // The service goes on meanwhile.
            #expect(house.manage("GET", "/v1/people").items.allSatisfy { $0["handle"]?.string != "walker" })
        }
        #expect(house.service.host.waitErased(house.service.log.head, milliseconds: patienceMilliseconds))
        #expect(Self.found(needles, in: house.directory) == [])
    }

    @Test func `live after an erasure is a refold after it, row by row`() throws {
        let village = try Village()
        let house = village.house
        try addNeighbour(to: house)
        house.manage("DELETE", "/v1/people/walker")
        for name in ProjectionKind.all.map(\.name) {
            house.manage("POST", "/v1/projections/\(name)/rebuild")
            while house.service.host.status.contains(where: \.isLoading) {
                _ = house.service.log.waitForHead(after: house.service.log.head, milliseconds: 5)
            }
            let diff = house.manage("GET", "/v1/projections/\(name)/diff")
            #expect(diff["equal"]?.bool == true, "\(name): \(diff.text.prefix(800))")
        }
    }

    private func addNeighbour(to house: ServiceUnderTest) throws {
        _ = try house.addPerson("neighbour")
        let phone = try house.addDevice("neighbour-phone", of: "neighbour")
        for minute in 0..<3 {
            house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds - 600 + 60 * Int64(minute)),"latitude":50,"longitude":8}"#)
        }
    }

    private static func removeFiles(of name: String, in directory: String) {
        for generation in 0..<20 {
            for version in 0..<10 {
                for suffix in ["", "-wal", "-shm"] {
                    unlink("\(directory)/projections/\(name)-v\(version)-\(generation).sqlite\(suffix)")
                }
            }
        }
    }

    /// A coordinate as doubles of either byte order, as decimal text, and as 1e-7 degrees of 4 and 8 bytes.
    private static func needles(latitudes: [Double], longitudes: [Double]) -> [[UInt8]] {
        (latitudes + longitudes).flatMap { degrees -> [[UInt8]] in
            let bits = degrees.bitPattern
            let scaled = Int64((degrees * 1e7).rounded())
            return [
                bytes(of: bits.littleEndian), bytes(of: bits.bigEndian), Array("\(degrees)".utf8),
                bytes(of: Int32(scaled).littleEndian), bytes(of: Int32(scaled).bigEndian),
                bytes(of: scaled.littleEndian), bytes(of: scaled.bigEndian), Array("\(scaled)".utf8),
            ]
        }
    }

    private static func bytes<Number>(of number: Number) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    /// `file: needle` for each needle in each file of the directory and below.
    private static func found(_ needles: [[UInt8]], in directory: String) -> [String] {
        var hits: [String] = []
        guard let entries = opendir(directory) else { return ["\(directory) cannot be read"] }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            let path = "\(directory)/\(name)"
            guard let bytes = DataDirectory.read(path, atMost: 256 << 20) else {
                hits += found(needles, in: path)
                continue
            }
            for needle in needles where contains(bytes, needle) {
                hits.append("\(name): \(needle.map { String($0, radix: 16) }.joined(separator: " "))")
            }
        }
        return hits
    }

    private static func contains(_ bytes: [UInt8], _ needle: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { haystack in
            needle.withUnsafeBytes { needle in
                guard var start = haystack.baseAddress, let wanted = needle.baseAddress else { return false }
                let end = start + haystack.count
                while end - start >= needle.count,
                    let next = memchr(start, Int32(needle[0]), end - start - needle.count + 1)
                {
                    if memcmp(next, wanted, needle.count) == 0 { return true }
                    start = UnsafeRawPointer(next) + 1
                }
                return false
            }
        }
    }
}
