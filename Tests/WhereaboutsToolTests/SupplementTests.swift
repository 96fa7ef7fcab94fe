import Gazetteer
import Geodesy
import JSON
import Service
import TestSupport
import Testing

@testable import WhereaboutsTool

@Suite(.enabled(if: GazetteerLocation.find() != nil, "There is no gazetteer beside the program."))
struct SupplementTests {
    // MARK: Where is this?

    @Test func `a coordinate at a door has the street, the number and the postal code`() throws {
        let folder = try GazetteerFolder()
        try folder.add(SourceFiles.paris)
        let mark = try folder.reverse(48.85562, 2.36012)
        #expect(mark.thoroughfare == "Rue de Rivoli")
        #expect(mark.subThoroughfare == "10")
        #expect(mark.postalCode == "75004")
        #expect(mark.locality == "Paris")
        #expect(mark.name == "10 Rue de Rivoli")
        #expect(mark.isoCountryCode?.description == "FR")
    }

    /// 0.0001° of latitude is 11.12 m here, by the length of a degree of the meridian (111.2 km at 48.9°).
    @Test(
        arguments: [
            (0.0, nil, true, true), (0.0004, nil, true, true), (0.0005, nil, true, false), (0.0008, nil, true, false),
            (0.001, nil, false, false), (0.0, 45, true, true), (0.0, 65, true, false), (0.0, 99, true, false),
            (0.0, 101, false, false), (0.0004, 20, true, false), (0.0008, 20, false, false),
        ] as [(Double, Double?, Bool, Bool)])
    func `a street is named within 100 m and a house within 50, less the accuracy`(
        degrees: Double, accuracy: Double?, street: Bool, house: Bool
    ) throws {
        let folder = try GazetteerFolder()
        try folder.add(SourceFiles.header + "2.4390000,48.8475000,5,Rue de Fontenay,,Vincennes,,,94300,1,1\n")
        let mark = try folder.reverse(48.8475 + degrees, 2.439, accuracy: accuracy)
        #expect((mark.thoroughfare != nil) == street)
        #expect((mark.subThoroughfare != nil) == house)
        #expect((mark.postalCode != nil) == street)
    }

    @Test func `the town is that of the address where the places have another`() throws {
        let folder = try GazetteerFolder()
        try folder.add(
            SourceFiles.header + "2.3601000,48.8556000,10,Rue de Rivoli,,Vincennes,,,94300,1,1\n"
                + "-122.3396,47.6096,1521,2ND AVE,,SEATTLE,,,98101,1,1\n")
        #expect(try folder.reverse(48.8556, 2.3601).locality == "Vincennes")
        #expect(try folder.reverse(48.8556, 2.3601).subLocality == nil)
        // Capitals are no other town.
        #expect(try folder.reverse(47.6096, -122.3396).locality == "Seattle")
    }

    @Test func `an address across the border is none`() throws {
        let folder = try GazetteerFolder()
        let gazetteer = try folder.gazetteer()
        // Between Vaals (Netherlands) and Aachen (Germany), the border by bisection.
        var (west, east) = (6.0185, 6.0839)
        func country(_ longitude: Double) throws -> String? {
            gazetteer.country(at: try Coordinate(latitude: 50.7720, longitude: longitude))?.description
        }
        #expect(try country(west) == "NL")
        #expect(try country(east) == "DE")
        while east - west > 1e-6 {
            let middle = (west + east) / 2
            if try country(middle) == "NL" { west = middle } else { east = middle }
        }
        // 0.0002° of longitude is 14 m at this latitude.
        try folder.add(SourceFiles.header + "\(west - 0.0002),50.7720,1,Maastrichterlaan,,Vaals,,,6291,1,1\n")
        #expect(try folder.reverse(50.7720, west - 0.0001).thoroughfare == "Maastrichterlaan")
        #expect(try folder.reverse(50.7720, east + 0.0001).thoroughfare == nil)
    }

    @Test func `where addresses differ at one coordinate, what differs is not said`() throws {
        let folder = try GazetteerFolder()
        try folder.add(
            SourceFiles.header + "2.36,48.85,1,Rue A,,Paris,,,75004,1,1\n2.36,48.85,2,Rue A,,Paris,,,75004,1,1\n"
                + "2.46,48.85,1,Rue A,,,,,,1,1\n2.46,48.85,1,Rue B,,,,,,1,1\n")
        #expect(try folder.reverse(48.85, 2.36).thoroughfare == "Rue A")
        #expect(try folder.reverse(48.85, 2.36).subThoroughfare == nil)
        #expect(try folder.reverse(48.85, 2.46).thoroughfare == nil)
    }

    @Test func `batches say what single questions say, at the antimeridian and by the pole too`() throws {
        let folder = try GazetteerFolder()
        try folder.add(
            SourceFiles.header + "180,-16.80,1,Date Line Road,,,,,,1,1\n-179.9995,-16.80,2,Date Line Road,,,,,,1,1\n"
                + "12.5,-89.9999,1,Pole Street,,,,,,1,1\n2.3601,48.8556,10,Rue de Rivoli,,,,,,1,1\n")
        let (gazetteer, transform) = (try folder.gazetteer(), GeocentricTransform())
        let coordinates = try [
            (-16.80, -180.0), (-16.80, 179.9999), (-16.80, -179.9996), (-89.9999, -170.0), (48.8556, 2.3601), (0, 0),
        ].map { try Coordinate(latitude: $0.0, longitude: $0.1) }
        let marks = Array(gazetteer.placemarks(at: coordinates, using: transform))
        #expect(marks == coordinates.map { gazetteer.placemark(at: $0, using: transform) })
        #expect(marks.map(\.subThoroughfare) == ["1", "1", "2", "1", "10", nil])
    }

    // MARK: Where is it called so?

    @Test(arguments: [
        "10 Rue de Rivoli, Paris", "Rue de Rivoli 10, 75004 Paris", "10 rue de rivoli paris france",
        "10, Rue de Rivoli, 75004", "Paris, Rue de Rivoli 10", "10 R. de Rivoli, Île-de-France", "10 Rue de Rivoli",
    ])
    func `an address is found as people write it`(text: String) throws {
        let folder = try GazetteerFolder()
        try folder.add(SourceFiles.paris)
        let first = try #require(try folder.forward(text).first)
        #expect(first["match"]?.string == "exact")
        #expect(first["name"]?.string == "10 Rue de Rivoli")
        #expect(first["thoroughfare"]?.string == "Rue de Rivoli")
        #expect(first["subThoroughfare"]?.string == "10")
        #expect(first["postalCode"]?.string == "75004")
        #expect(first["country"]?.string == "France")
        #expect(first["latitude"]?.double == 48.8556)
        #expect(first["longitude"]?.double == 2.3601)
    }

    @Test func `kinds of streets, numbers of two words and capitals are read in all their spellings`() throws {
        let folder = try GazetteerFolder()
        try folder.add(SourceFiles.paris)
        try folder.add(name: "us", SourceFiles.seattle)
        try folder.add(name: "at", SourceFiles.header + "16.3700,48.2080,5a,Münchner Straße,,Wien,,,1010,1,1\n")
        for (text, name) in [
            ("8 bis Rue de Rivoli, Paris", "8 bis Rue de Rivoli"), ("1521 Second Avenue", nil),
            ("1521 2nd Avenue, Seattle, WA", "1521 2ND AVE"), ("1521 2nd Ave, Seattle 98101", "1521 2ND AVE"),
            ("119 Northwest 41st Street, Seattle", "119 NW 41ST ST"),
            ("Munchner Str. 5a, 1010 Vienna", "Münchner Straße 5a"),
            ("MÜNCHNER STRASSE 5A", "Münchner Straße 5a"),
        ] as [(String, String?)] {
            #expect(try folder.forward(text).first?["name"]?.string == name, "\(text)")
        }
    }

    @Test func `a street whose house is not known is found in part, and nothing in the wrong town`() throws {
        let folder = try GazetteerFolder()
        try folder.add(SourceFiles.paris)
        let street = try #require(try folder.forward("Rue de Rivoli, 75001 Paris").first)
        #expect(street["match"]?.string == "exact")
        #expect(street["name"]?.string == "Rue de Rivoli")
        let unknown = try #require(try folder.forward("1000 Rue de Rivoli, Paris").first)
        #expect(unknown["match"]?.string == "partial")
        #expect(unknown["subThoroughfare"] == nil)
        for text in ["10 Rue de Rivoli, Marseille", "10 Rue de Rivoli, Texas", "10 Rue de Rivoli xyzzy"] {
            #expect(try folder.forward(text).isEmpty, "\(text)")
        }
    }

    @Test func `a place that is called just so comes first, and an address before what is only like it`() throws {
        let folder = try GazetteerFolder()
        try folder.add(SourceFiles.paris + "2.36,48.85,1,Paris,,,,,,1,1\n")
        let (gazetteer, transform) = (try folder.gazetteer(), GeocentricTransform())
        guard case .place(let place)? = gazetteer.found(named: "Paris", using: transform).first else {
            Issue.record("A street came before the city.")
            return
        }
        #expect(place.place.geonameID == 2_988_507)
        guard case .address? = gazetteer.found(named: "10 Rue de Rivoli, Paris", using: transform).first else {
            Issue.record("No address came first.")
            return
        }
    }

    // MARK: Postal codes

    @Test func `a town of one postal code has it everywhere, one of several has none`() throws {
        let folder = try GazetteerFolder()
        try folder.add(attribution: nil, licence: nil, SourceFiles.postal)
        #expect(try folder.reverse(46.7444, 1.8333).postalCode == "36120")
        #expect(try folder.reverse(46.75, 1.84).postalCode == "36120")
        #expect(try folder.reverse(48.8656, 2.3427).postalCode == nil)
        // 8 km from Ardentes' middle.
        #expect(try folder.reverse(46.7444, 1.94).postalCode == nil)
    }

    @Test(arguments: [
        ("75001", "75001", "FR"), ("75001, France", "75001", "FR"), ("36120 Ardentes", "36120", "FR"),
        ("24060 Blacksburg", "24060", "US"), ("Blacksburg VA 24060", "24060", "US"), ("sw1a 1aa", "SW1A 1AA", "GB"),
        ("SW1A1AA London", "SW1A 1AA", "GB"), ("24060 Deutschland", "24060", "DE"),
    ])
    func `a postal code is found alone and with its town or country`(text: String, code: String, country: String) throws
    {
        let folder = try GazetteerFolder()
        try folder.add(attribution: nil, licence: nil, SourceFiles.postal)
        let first = try #require(try folder.forward(text).first)
        #expect(first["postalCode"]?.string == code)
        #expect(first["name"]?.string == code)
        #expect(first["isoCountryCode"]?.string == country)
    }

    @Test func `of a code that two countries have both are found, each once and where it is known best`() throws {
        let folder = try GazetteerFolder()
        try folder.add(attribution: nil, licence: nil, SourceFiles.postal)
        let found = try folder.forward("24060")
        #expect(found.compactMap { $0["isoCountryCode"]?.string } == ["DE", "US"])
        #expect(found.last?["latitude"]?.double == 37.2563)
    }

    // MARK: Places

    /// Around 47.9° N 15.9° E lie mountains: the next place of the bundle is kilometers away.
    private static let places =
        SourceFiles.place(900_000_001, "Klein Ödhof", 47.9, 15.9, "P.PPL")
        + SourceFiles.place(900_000_002, "Alte Ruine", 47.9004, 15.9, "S.RUIN")
        + SourceFiles.place(900_000_003, "Unterstadtl", 48.2085, 16.3722, "P.PPLX", division: "09\t900")
        + SourceFiles.place(900_000_004, "Wüstung", 47.95, 15.9, "P.PPLH")
        + SourceFiles.place(900_000_005, "Bezirk", 47.95, 15.9, "A.ADM2")
    private static let divisions = "AT.03.306\tPolitischer Bezirk Baden\tPolitischer Bezirk Baden\t2782067\n"

    @Test func `a village that is not in the bundle is the locality where one is in it`() throws {
        let folder = try GazetteerFolder()
        let before = try folder.reverse(47.9, 15.9)
        #expect(before.locality != "Klein Ödhof")
        let report = try folder.add(attribution: nil, licence: nil, Self.places, Self.divisions)
        #expect(report.supplement?.placeCount == 3)
        #expect(report.files[0].rejected.map(\.reason) == ["notWanted"])
        #expect(report.files[0].rejected.map(\.count) == [2])
        let mark = try folder.reverse(47.901, 15.9)
        #expect(mark.locality == "Klein Ödhof")
        #expect(mark.administrativeArea == before.administrativeArea)
        // 0.02° of latitude are 2.2 km.
        #expect(try folder.reverse(47.92, 15.9).locality != "Klein Ödhof")
    }

    @Test func `a part of a town is its part, and the town stays`() throws {
        let folder = try GazetteerFolder()
        try folder.add(attribution: nil, licence: nil, Self.places)
        let mark = try folder.reverse(48.2086, 16.3723)
        #expect(mark.locality == "Wien")
        #expect(mark.subLocality == "Unterstadtl")
    }

    /// The ruin is 44 m north of the village's middle.
    @Test func `what is of interest is named within 100 m, less the accuracy`() throws {
        let folder = try GazetteerFolder()
        try folder.add(attribution: nil, licence: nil, Self.places)
        #expect(try folder.reverse(47.9, 15.9).areasOfInterest == ["Alte Ruine"])
        #expect(try folder.reverse(47.9, 15.9, accuracy: 80).areasOfInterest == [])
        #expect(try folder.reverse(47.899, 15.9).areasOfInterest == [])
    }

    @Test func `a place of a supplement is found by its name and its division`() throws {
        let folder = try GazetteerFolder()
        try folder.add(attribution: nil, licence: nil, Self.places, Self.divisions)
        for text in ["Klein Ödhof", "klein odhof, Austria", "Klein Ödhof, Politischer Bezirk Baden"] {
            let first = try #require(try folder.forward(text).first, "\(text)")
            #expect(first["geonameId"]?.int == 900_000_001)
            #expect(first["name"]?.string == "Klein Ödhof")
            #expect(first["locality"]?.string == "Klein Ödhof")
            #expect(first["latitude"]?.double == 47.9)
        }
        #expect(try folder.forward("Klein Ödhof, Italia").isEmpty)
    }

    @Test func `a coordinate that stands for a kilometer or a city has no street, village or sight`() throws {
        let folder = try GazetteerFolder()
        try folder.add(SourceFiles.header + "15.9,47.9,1,Dorfstraße,,Klein Ödhof,,,2565,1,1\n", Self.places)
        let exact = try folder.reverse(47.9, 15.9)
        #expect(exact.name == "Dorfstraße 1")
        for coarse in [exact.ofArea, exact.ofCity] {
            #expect(coarse.thoroughfare == nil && coarse.subThoroughfare == nil && coarse.postalCode == nil)
            #expect(coarse.locality != "Klein Ödhof")
            #expect(coarse.areasOfInterest == [])
            #expect(coarse.name == coarse.locality)
        }
    }

    // MARK: A second opinion

    /// Every address near by a scan with PyPI's geographiclib, which shares nothing with the file's order.
    @Test(.enabled(if: Foreign.hasPython(with: "geographiclib"), "python3 has no geographiclib"))
    func `the nearest of 3,000 addresses is that of a scan by geographiclib`() throws {
        var chance = SplitMix(20_261_122)
        func near(_ middle: Double) -> Double { middle + Double.random(in: -0.01...0.01, using: &chance) }
        var rows = SourceFiles.header
        for number in 1...3000 { rows += "\(near(19.04)),\(near(47.5)),\(number),Utca \(number),,,,,,1,1\n" }
        let folder = try GazetteerFolder()
        try folder.add(rows)
        let points = (0..<500).map { _ in "\(near(19.04)),\(near(47.5))" }
        let output = try Foreign.python(
            """
            import csv, sys
            from geographiclib.geodesic import Geodesic
            rows = [(float(r["LON"]), float(r["LAT"]), r["NUMBER"]) for r in csv.DictReader(open("\(folder.path)test-0"))]
            for line in sys.stdin:
                x, y = map(float, line.split(","))
                near = [(Geodesic.WGS84.Inverse(y, x, round(b, 7), round(a, 7))["s12"], number)
                    for a, b, number in rows if abs(b - y) < 0.002 and abs(a - x) < 0.003]
                print(*min(near, default=(1e9, 0)))
            """, input: points.joined(separator: "\n"))
        let answers = output.split(separator: "\n").map { $0.split(separator: " ") }
        try #require(answers.count == points.count)
        let (gazetteer, transform) = (try folder.gazetteer(), GeocentricTransform())
        var named = 0
        for (point, answer) in zip(points, answers) {
            let numbers = point.split(separator: ",").compactMap { Double($0) }
            let meters = try #require(Double(answer[0]))
            let mark = gazetteer.placemark(
                at: try Coordinate(latitude: numbers[1], longitude: numbers[0]), using: transform)
            #expect(mark.thoroughfare == (meters <= 100 ? "Utca \(answer[1])" : nil))
            #expect(mark.subThoroughfare == (meters <= 50 ? String(answer[1]) : nil))
            if mark.thoroughfare != nil { named += 1 }
        }
        #expect(named > 400)
    }
}
