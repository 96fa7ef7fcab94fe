import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// Places in other reference systems and for maps, and days of the calendar.
@Suite struct AnswerFormTests {
    /// The old observatory of Bern, by swisstopo's definition of CH1903+ / LV95 and its published latitude and
    /// longitude.
    private static let bern = (latitude: 46 + 57 / 60.0 + 3.9 / 3600, longitude: 7 + 26 / 60.0 + 19.1 / 3600)

    private static func house(_ latitude: Double, _ longitude: Double) throws -> ServiceUnderTest {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let phone = try house.addDevice("walker-phone", of: "walker")
        let time = house.clock.seconds
        let fix = #"{"timestamp":\#(time),"latitude":\#(latitude),"longitude":\#(longitude),"horizontalAccuracy":5}"#
        #expect(house.send("POST", "/v1/fixes", as: phone, fix).status == 200)
        house.manage(
            "POST", "/v1/people/walker/regions",
            #"{"id":"ring","circle":{"latitude":\#(latitude),"longitude":\#(longitude),"radiusMeters":150}}"#)
        house.manage(
            "POST", "/v1/people/walker/regions",
            #"{"id":"field","polygon":{"type":"Polygon","coordinates":[[[7,46],[8,46],[8,47],[7,46]]]}}"#)
        return house
    }

    private static func isNear(_ value: JSONValue?, _ expected: Double, within: Double = 3) -> Bool {
        value?.double.map { abs($0 - expected) < within } ?? false
    }

    @Test func `places come in the system asked for, easting first, and it says how exact that is`() throws {
        let house = try Self.house(Self.bern.latitude, Self.bern.longitude)
        let query = "?crs=EPSG:2056&at-least=\(house.service.log.head)"
        for target in ["location", "track"] {
            let answer = house.manage("GET", "/v1/people/walker/\(target)\(query)")
            let place = try #require(answer["location"] ?? answer.items.first)
            #expect(Self.isNear(place["x"], 2_600_000) && Self.isNear(place["y"], 1_200_000))
            #expect(place["latitude"] == nil && place["longitude"] == nil)
            #expect(answer.header("Content-Crs") == "<http://www.opengis.net/def/crs/EPSG/0/2056>")
            let system = try #require(answer["referenceSystem"])
            #expect(system["name"]?.string == "CH1903+ / LV95" && system["code"]?.string == "EPSG:2056")
            #expect(system["axes"]?.array?.compactMap(\.string) == ["Easting", "Northing"])
            // The register gives its transformation from CH1903+ to WGS 84 (1676) an accuracy of 1 m.
            #expect(system["accuracyMeters"]?.double == 1)
            let operations = system["operations"]?.array?.map { $0 } ?? []
            #expect(operations.compactMap { $0["name"]?.string }.map { $0.contains("CH1903+ to WGS 84 (1)") } == [true])
            #expect(operations.first?["accuracyMeters"]?.double == 1)
            #expect(system["areaOfUse"]?.array?.compactMap(\.double).count == 4)
        }
        let regions = house.manage("GET", "/v1/people/walker/regions\(query)").items
        #expect(Self.isNear(regions[0]["circle"]?["x"], 2_600_000))
        // The register's own name for it, as OGC writes it.
        let named = house.manage(
            "GET", "/v1/people/walker/location?crs=http://www.opengis.net/def/crs/EPSG/0/3857")
        // Web Mercator: x is the longitude times the radius of the equator.
        #expect(Self.isNear(named["location"]?["x"], Self.bern.longitude * .pi / 180 * 6_378_137, within: 0.01))
    }

    /// NGA's test output of its program for EGM96 gives −43.575 m at 46.874319° N, 102.448729° E; the 15′ grid is
    /// within 1 m.
    @Test(arguments: [
        ("altitude", 1300.0, "ellipsoidalAltitude", 1256.4), ("ellipsoidalAltitude", 1256.4, "altitude", 1300),
    ])
    func `a place has its height above the sea and above the ellipsoid, whichever the device reported`(
        reported: String, meters: Double, other: String, expected: Double
    ) throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let phone = try house.addDevice("walker-phone", of: "walker")
        let place = #""latitude":46.874319,"longitude":102.448729"#
        for report in [
            #"{"timestamp":\#(house.clock.seconds - 60),\#(place)}"#,
            #"{"timestamp":\#(house.clock.seconds),\#(place),"\#(reported)":\#(meters)}"#,
        ] { #expect(house.send("POST", "/v1/fixes", as: phone, report).status == 200) }
        let track = house.manage("GET", "/v1/people/walker/track?at-least=\(house.service.log.head)").items
        let location = house.manage("GET", "/v1/people/walker/location")
        #expect(track.count == 2 && track[0][reported] == nil && track[0][other] == nil)
        for shown in [location["location"], track.last] {
            #expect(shown?[reported]?.double == meters)
            #expect(Self.isNear(shown?[other], expected, within: 1))
        }
    }

    @Test func `the answer to a question comes in the system asked for, and the record says the coordinate`() throws {
        let house = try Self.house(Self.bern.latitude, Self.bern.longitude)
        let asked = house.manage("POST", "/v1/people/walker/location-queries", #"{"purpose":"to test"}"#)
        let target = try #require(asked["url"]?.string)
        let answer = house.manage("GET", "\(target)?crs=EPSG:2056")
        #expect(answer["status"]?.string == "answeredFromLastKnown")
        #expect(Self.isNear(answer["location"]?["x"], 2_600_000) && answer["location"]?["latitude"] == nil)
        #expect(answer.header("Content-Crs") == "<http://www.opengis.net/def/crs/EPSG/0/2056>")
        let disclosed = try house.events().compactMap { event -> Disclosure? in
            if case .locationDisclosed(let disclosure) = event.event { disclosure } else { nil }
        }
        #expect(disclosed.first?.content.content?.latitude == Self.bern.latitude)
        let map = house.manage("GET", "\(target)?format=geojson")
        #expect(map["features"]?.array?.map { $0 }.count == 1 && map["status"]?.string == "answeredFromLastKnown")
    }

    @Test func `outside of a system's area places are null, and the read is on record all the same`() throws {
        let house = try Self.house(48.2, 16.3)
        let before = house.service.log.head
        let answer = house.manage("GET", "/v1/people/walker/location?crs=EPSG:2193&at-least=\(before)")
        #expect(answer["location"]?["x"]?.isNull == true && answer["location"]?["y"]?.isNull == true)
        #expect(answer["location"]?["timestamp"] != nil && !answer.text.contains("48.2"))
        #expect(house.service.log.head == before + 1)
        let map = house.manage("GET", "/v1/people/walker/track?crs=EPSG:2193&format=geojson&at-least=\(before)")
        #expect(map["features"]?.array?.first { _ in true }?["geometry"]?.isNull == true)
    }

    @Test(arguments: [("EPSG:999999", 422), ("EPSG:5773", 422), ("EPSG:", 400), ("WGS84", 400), ("epsg:2056", 400)])
    func `what is no system for maps is refused before anything is read`(code: String, status: Int) throws {
        let house = try Self.house(48.2, 16.3)
        let before = house.service.log.head
        #expect(house.send("GET", "/v1/people/walker/track?crs=\(code)", as: house.operatorToken).status == status)
        #expect(house.service.log.head == before)
    }

    @Test func `a map gets GeoJSON`() throws {
        let house = try Self.house(48.2, 16.3)
        let wanted = [("Accept", "application/geo+json")]
        let query = "?at-least=\(house.service.log.head)"
        let track = house.send("GET", "/v1/people/walker/track\(query)", as: house.operatorToken, headers: wanted)
        #expect(track.header("Content-Type") == "application/geo+json")
        #expect(track["type"]?.string == "FeatureCollection" && track["asOf"]?.int != nil && track["next"] != nil)
        let feature = try #require(track["features"]?.array?.first { _ in true })
        #expect(feature["type"]?.string == "Feature" && feature["geometry"]?["type"]?.string == "Point")
        // RFC 7946 section 3.1.1: longitude first.
        #expect(feature["geometry"]?["coordinates"]?.array?.compactMap(\.double) == [16.3, 48.2])
        #expect(feature["properties"]?["horizontalAccuracy"]?.double == 5)
        #expect(feature["properties"]?["latitude"] == nil)

        let location = house.manage("GET", "/v1/people/walker/location?format=geojson")
        #expect(location["features"]?.array?.map { $0 }.count == 1)
        let regions = house.manage("GET", "/v1/people/walker/regions?format=geojson")["features"]?.array.map {
            Array($0)
        }
        #expect(regions?.map { $0["geometry"]?["type"]?.string } == ["Point", "Polygon"])
        #expect(
            regions?.first?["properties"]?["radiusMeters"]?.double == 150 && regions?.first?["id"]?.string == "ring")
        let ring = regions?.last?["geometry"]?["coordinates"]?.array?.first { _ in true }?.array.map { Array($0) }
        #expect(ring?.map { $0.array?.compactMap(\.double) } == [[7, 46], [8, 46], [8, 47], [7, 46]])

        #expect(track["coordRefSys"] == nil && feature["place"] == nil)
        // OGC 21-045: the system by its address, and the geometry in it as `place`.
        let european = house.manage("GET", "/v1/people/walker/regions?format=geojson&crs=EPSG:3035")
        #expect(european["coordRefSys"]?.string == "http://www.opengis.net/def/crs/EPSG/0/3035")
        let features = european["features"]?.array.map { Array($0) } ?? []
        #expect(features.count == 2)
        for feature in features {
            #expect(feature["place"]?["type"]?.string == feature["geometry"]?["type"]?.string)
            let both = [feature["place"], feature["geometry"]].map { geometry -> [Double] in
                var numbers: [Double] = []
                func collect(_ value: JSONValue) {
                    if let number = value.double { numbers.append(number) }
                    for element in value.array.map(Array.init) ?? [] { collect(element) }
                }
                if let coordinates = geometry?["coordinates"] { collect(coordinates) }
                return numbers
            }
            #expect(both[0] == both[1] && both[0].count >= 2 && both[0][0] > 1_000_000)
        }

        // A client that accepts JSON equally gets JSON.
        let either = [("Accept", "application/json, application/geo+json;q=0.9")]
        let plain = house.send("GET", "/v1/people/walker/track", as: house.operatorToken, headers: either)
        #expect(plain.header("Content-Type") == "application/json")
        #expect(house.send("GET", "/v1/people/walker/track?format=kml", as: house.operatorToken).status == 400)
    }

    @Test func `ways are lines, places and visits points`() throws {
        let village = try Village()
        for (target, type) in [("visits", "Point"), ("places", "Point"), ("trips", "LineString")] {
            let plain = village.house.manage("GET", "/v1/people/walker/\(target)").items
            let answer = village.house.manage("GET", "/v1/people/walker/\(target)?format=geojson")
            let features = answer["features"]?.array.map { Array($0) } ?? []
            #expect(features.count == plain.count && !features.isEmpty)
            #expect(features.allSatisfy { $0["geometry"]?["type"]?.string == type }, "\(target)")
            // Only another system has x and y.
            let starts = features.map { $0["properties"]?["from"]?["latitude"]?.double }
            #expect(starts == plain.map { $0["from"]?["latitude"]?.double }, "\(target)")
        }
    }

    // MARK: Days

    private static func track(_ query: String, _ house: ServiceUnderTest) -> Answer {
        house.send("GET", "/v1/people/walker/track?\(query)", as: house.operatorToken)
    }

    /// In the European Union clocks went from 02:00 to 03:00 on 29 March 2026 (directive 2000/84/EC): the day has 23
    /// hours.
    @Test func `a day goes by the clocks where the person was, or by those that are named`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let phone = try house.addDevice("walker-phone", of: "walker")
        // 2026-03-28T23:00Z is midnight in Vienna, 2026-03-29T22:00Z the next.
        let midnight = 1_774_738_800, next = midnight + 23 * 3600
        let times = [midnight - 1, midnight, next - 1, next]
        let fixes = times.map { #"{"timestamp":\#($0),"latitude":48.2,"longitude":16.37}"# }.joined(separator: ",")
        #expect(house.send("POST", "/v1/fixes", as: phone, #"{"fixes":[\#(fixes)]}"#).status == 200)
        let atLeast = "at-least=\(house.service.log.head)"
        func seen(_ query: String) -> [Int64] {
            Self.track("\(query)&\(atLeast)", house).items.compactMap { $0["timestamp"]?.int }
        }
        #expect(seen("day=2026-03-29") == [Int64(midnight), Int64(next - 1)])
        #expect(seen("day=2026-03-29&timeZone=Europe/Vienna") == seen("day=2026-03-29"))
        #expect(seen("day=2026-03-29&timeZone=Etc/UTC") == [Int64(next - 1), Int64(next)])
        // The range that was read is on record, not the day.
        var read: [LocationRead.Content] = []
        for event in try house.events() {
            if case .locationRead(let reading) = event.event, let content = reading.content.content {
                read.append(content)
            }
        }
        #expect(read.first?.from?.milliseconds == Int64(midnight) * 1000)
        #expect(read.first?.to?.milliseconds == Int64(next) * 1000)
    }

    /// 2026-03-29T20:00Z is the morning of the 30th in Tokyo, which keeps UTC+9 all year.
    @Test func `a day before anything was seen goes by the first place after it`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let phone = try house.addDevice("walker-phone", of: "walker")
        let fix = #"{"timestamp":1774814400,"latitude":35.68,"longitude":139.76}"#
        #expect(house.send("POST", "/v1/fixes", as: phone, fix).status == 200)
        let atLeast = "&at-least=\(house.service.log.head)"
        #expect(Self.track("day=2026-03-29\(atLeast)", house).items.count == 0)
        #expect(Self.track("day=2026-03-30\(atLeast)", house).items.count == 1)
        #expect(Self.track("day=2026-03-29&timeZone=Etc/UTC\(atLeast)", house).items.count == 1)
    }

    @Test(arguments: [
        ("day=2026-02-29", 422), ("day=2026-3-29", 400), ("day=tomorrow", 400), ("day=1066-10-14", 422),
        ("day=2026-03-29&from=1", 422), ("timeZone=Europe/Vienna", 422), ("day=2026-03-29&timeZone=Mars/Base", 422),
    ])
    func `what is no day is refused`(query: String, status: Int) throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        #expect(Self.track(query, house).status == status)
    }
}
