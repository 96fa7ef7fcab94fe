import Geodesy
import TestSupport
import Testing
import Whereabouts
import WireFormats

@testable import FileFormats

/// A file that is written and read again has the same fixes, as far as its form has their members.
@Suite struct WritingLawTests {
    private static let anna = Handle("anna")

    /// A history as phones report it: some members missing, long silences, and numbers of every size.
    private static func history(_ random: inout SplitMix) throws -> [Fix] {
        var milliseconds = 1_600_000_000_000 + Int64.random(in: 0..<1_000_000_000, using: &random)
        return try (0..<Int.random(in: 0...25, using: &random)).map { _ in
            milliseconds += Int64.random(in: 1...(Bool.random(using: &random) ? 60_000 : 5_000_000), using: &random)
            func maybe(_ range: ClosedRange<Double>) -> Double? {
                if Bool.random(using: &random) { return nil }
                let number = Double.random(in: range, using: &random)
                // As receivers round, and as arithmetic leaves it.
                return Bool.random(using: &random) ? (number * 100).rounded() / 100 : number
            }
            let isTiny = Int.random(in: 0..<20, using: &random) == 0
            var fix = Fix(
                timestamp: Timestamp(milliseconds: milliseconds),
                coordinate: try Coordinate(
                    latitude: isTiny ? 1.5e-7 : Double.random(in: -90...90, using: &random),
                    longitude: isTiny ? -2e-10 : Double.random(in: -180...180, using: &random)),
                horizontalAccuracy: maybe(0...5000))
            fix.altitude = maybe(-400...9000)
            fix.verticalAccuracy = fix.altitude == nil ? nil : maybe(0.5...500)
            fix.ellipsoidalAltitude = fix.altitude == nil ? nil : maybe(-400...9000)
            fix.floor = Bool.random(using: &random) ? Int64.random(in: -3...160, using: &random) : nil
            fix.speed = maybe(0...300)
            fix.speedAccuracy = maybe(0...30)
            fix.course = maybe(0...359)
            fix.courseAccuracy = maybe(0...90)
            fix.batteryLevel = Bool.random(using: &random) ? Double(Int.random(in: 0...100, using: &random)) / 100 : nil
            fix.remainder = Bool.random(using: &random) ? #"{"conn":"w","t":"u"}"# : nil
            return fix
        }
    }

    /// The members of a fix that a form has.
    private static func kept(_ fix: Fix, in form: TrackForm) -> Fix {
        var kept = Fix(timestamp: fix.timestamp, coordinate: fix.coordinate, horizontalAccuracy: fix.horizontalAccuracy)
        func whole(_ number: Double?) -> Double? { number?.rounded() }
        kept.altitude = fix.altitude
        switch form {
        case .fixes: return fix
        case .kml: (kept.speed, kept.course) = (fix.speed, fix.course)
        case .ownTracks:
            kept.timestamp = Timestamp(milliseconds: fix.timestamp.milliseconds / 1000 * 1000)
            // 0 m is an unknown accuracy there, and says of an altitude that it is not valid.
            kept.horizontalAccuracy = whole(fix.horizontalAccuracy).flatMap { $0 > 0 ? $0 : nil }
            kept.altitude = whole(fix.altitude)
            kept.verticalAccuracy = whole(fix.verticalAccuracy).flatMap { $0 > 0 ? $0 : nil }
            // Compared in km/h, in which OwnTracks has it.
            kept.speed = whole(fix.speed.map { $0 * 3.6 })
            kept.course = whole(fix.course)
            (kept.batteryLevel, kept.remainder) = (fix.batteryLevel, fix.remainder)
        case .gpx, .csv, .geoJSON:
            (kept.verticalAccuracy, kept.floor) = (fix.verticalAccuracy, fix.floor)
            (kept.speed, kept.course) = (fix.speed, fix.course)
            if form == .gpx { break }
            (kept.speedAccuracy, kept.courseAccuracy) = (fix.speedAccuracy, fix.courseAccuracy)
            kept.batteryLevel = fix.batteryLevel
            if form == .geoJSON { kept.ellipsoidalAltitude = fix.ellipsoidalAltitude }
        }
        return kept
    }

    /// Fixes that were read, with their speeds in the unit of the form.
    private static func compared(_ fixes: [Fix], _ form: TrackForm) -> [Fix] {
        guard form == .ownTracks else { return fixes }
        return fixes.map { fix in
            var fix = fix
            fix.speed = fix.speed.map { ($0 * 3.6).rounded() }
            return fix
        }
    }

    private static func written(_ fixes: [Fix], _ form: TrackForm) throws -> [UInt8] {
        var file = TrackFile(form, of: try #require(anna))
        var bytes: [UInt8] = []
        for fix in fixes {
            file.add(fix, device: "anna-phone")
            bytes += file.takeBytes()
        }
        file.finish()
        return bytes + file.takeBytes()
    }

    @Test(arguments: TrackForm.allCases) func `a thousand histories come back as they were`(form: TrackForm) throws {
        var random = SplitMix(20_261_123)
        let format = try #require(FileFormat(rawValue: form.rawValue))
        for number in 0..<1000 {
            let fixes = try Self.history(&random)
            let found = read(try Self.written(fixes, form), format: format)
            #expect(found.fault == nil || fixes.isEmpty)
            let (wanted, there) = (fixes.map { Self.kept($0, in: form) }, Self.compared(found.fixes, form))
            guard there == wanted, found.rejected.isEmpty else {
                let index = zip(there, wanted).enumerated().first { $1.0 != $1.1 }?.offset
                let what = index.map { "\(there[$0]) instead of \(wanted[$0])" }
                Issue.record("History \(number): \(what ?? "\(there.count) of \(wanted.count) fixes")")
                return
            }
        }
    }

    /// The form need not be named.
    @Test(arguments: TrackForm.allCases) func `a written file is detected as what it is`(form: TrackForm) throws {
        var random = SplitMix(7)
        var fixes: [Fix] = []
        while fixes.count < 3 { fixes = try Self.history(&random) }
        let found = read(try Self.written(fixes, form))
        let isEqual = Self.compared(found.fixes, form) == fixes.map { Self.kept($0, in: form) }
        #expect(isEqual)
        #expect(found.summary.parts.map(\.key.rawValue) == [form.rawValue])
    }

    /// Writes the time in milliseconds, latitude, longitude and altitude of each point, read by gpxpy and by Python's own
    /// parsers.
    private static let program = """
        import csv, datetime, io, json, sys, xml.etree.ElementTree as tree
        import gpxpy
        form, text = sys.argv[1], sys.stdin.read()
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        def milliseconds(text):
            return (datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) - epoch) // datetime.timedelta(milliseconds=1)
        def number(text):
            return float(text) if text else None
        if form == "gpx":
            segments = [segment for track in gpxpy.parse(text).tracks for segment in track.segments]
            points = [((p.time - epoch) // datetime.timedelta(milliseconds=1), p.latitude, p.longitude, p.elevation)
                      for segment in segments for p in segment.points]
        elif form == "geojson":
            points = [(round(f["properties"]["timestamp"] * 1000), *f["geometry"]["coordinates"][1::-1],
                       (f["geometry"]["coordinates"] + [None])[2]) for f in json.loads(text)["features"]]
        elif form == "csv":
            points = [(milliseconds(row["time_utc"]), float(row["latitude_deg"]), float(row["longitude_deg"]),
                       number(row["altitude_m"])) for row in csv.DictReader(io.StringIO(text, newline=""))]
        elif form == "kml":
            google, points = "{http://www.google.com/kml/ext/2.2}", []
            for track in tree.fromstring(text).iter(google + "Track"):
                times = [e.text for e in track.iter("{http://www.opengis.net/kml/2.2}when")]
                places = [[float(n) for n in e.text.split()] for e in track.iter(google + "coord")]
                assert len(times) == len(places)
                points += [(milliseconds(t), p[1], p[0], (p + [None])[2]) for t, p in zip(times, places)]
        elif form == "owntracks":
            lines = [line.split("\\t") for line in text.splitlines()]
            assert all(len(topic) == 18 for _, topic, _ in lines)
            points = [(milliseconds(time), m["lat"], m["lon"], m.get("alt"))
                      for time, _, text in lines for m in [json.loads(text)] if m["tst"] * 1000 == milliseconds(time)]
        for point in points: print(*[repr(value) for value in point])
        """

    @Test(
        .enabled(if: Foreign.hasPython(with: "gpxpy"), "WHEREABOUTS_PYTHON names no python with gpxpy."),
        arguments: [TrackForm.gpx, .geoJSON, .csv, .kml, .ownTracks])
    func `other programs' parsers find the same points`(form: TrackForm) throws {
        var random = SplitMix(11)
        var fixes: [Fix] = []
        while fixes.count < 10 { fixes = try Self.history(&random) }
        let folder = TemporaryFolder()
        let lines = try withExtendedLifetime(folder) {
            try Foreign.python(
                path: try folder.write(Self.program, to: "points.py"), [form.rawValue],
                input: String(decoding: try Self.written(fixes, form), as: UTF8.self)
            ).split(separator: "\n")
        }
        try #require(lines.count == fixes.count)
        for (line, fix) in zip(lines, fixes.map({ Self.kept($0, in: form) })) {
            let words = line.split(separator: " ")
            #expect(Int64(words[0]) == fix.timestamp.milliseconds)
            #expect(Double(words[1]) == fix.coordinate.latitude && Double(words[2]) == fix.coordinate.longitude)
            #expect(Double(words[3]) == fix.altitude)
        }
    }

    @Test func `a gap begins a segment`() throws {
        let place = try Coordinate(latitude: 48.2, longitude: 16.37)
        let fixes = [0, 60, 2000, 2060].map {
            Fix(timestamp: Timestamp(milliseconds: 1_700_000_000_000 + $0 * 1000), coordinate: place)
        }
        let gpx = String(decoding: try Self.written(fixes, .gpx), as: UTF8.self)
        #expect(gpx.split(separator: "<trkseg>").map { $0.split(separator: "<trkpt ").count - 1 } == [0, 2, 2])
        let kml = String(decoding: try Self.written(fixes, .kml), as: UTF8.self)
        #expect(kml.split(separator: "<gx:Track>").count == 3)
    }

    @Test(arguments: [
        (1e-7, "0.0000001"), (-1.5e-10, "-0.00000000015"), (48.2083, "48.2083"), (5, "5"), (-0.5, "-0.5"),
        (1.25e20, "125000000000000000000"), (1e-20, "0.00000000000000000001"),
    ])
    func `a decimal has no exponent and reads back equal`(number: Double, text: String) {
        #expect(FileText.decimal(number) == text)
        #expect(Double(text) == number)
    }
}
