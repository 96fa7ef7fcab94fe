import Geodesy
import Testing
import Whereabouts

@testable import WireFormats

@Suite struct GPXReaderTests {
    private let whole = """
        <?xml version="1.0" encoding="UTF-8"?>
        <gpx version="1.1" creator="Läufer" xmlns="http://www.topografix.com/GPX/1/1" xmlns:x="y">
        <metadata><time>2011-01-01T00:00:00Z</time></metadata>
        <wpt lat="1" lon="2"><ele>5</ele><time>2011-01-01T00:00:00Z</time></wpt>
        <rte><rtept lat="1" lon="2"/><rtept lat="1" lon="3"/></rte>
        <trk><name>日本 &amp; Ελλάδα</name><trkseg/>
        <trkseg>
        <trkpt lat="46.5" lon="9.25"><ele> 410.5
        </ele><time>2012-10-24T23:29:40.123+02:00</time><hdop>3</hdop>
        <extensions><x:TrackPointExtension><x:hr>130</x:hr><x:speed>2.5</x:speed><x:course>360</x:course>
        </x:TrackPointExtension></extensions></trkpt>
        <trkpt lon="9.26" lat="+46.5"><time>2012-10-24T23:29:41</time><extensions><speed>-1</speed><course>12.5</course>
        <hAcc>4.5</hAcc><vAcc>2</vAcc></extensions></trkpt>
        </trkseg><trkseg>
        <trkpt lat="46.6" lon="9.27"><extensions><hacc>7</hacc><vacc>-1</vacc><floor>3</floor></extensions></trkpt>
        </trkseg></trk>
        <trk><trkseg><trkpt lat="46.7" lon="9.28"><time><![CDATA[2012-10-24T23:29:42Z]]></time><accuracy>9</accuracy>
        </trkpt></trkseg></trk>
        </gpx>
        """

    @Test(arguments: [1, 10, .max])
    func `track points are read with segments, times and extensions, in pieces of any size`(pieceBytes: Int) throws {
        let (points, counts) = try readGPX(Array(whole.utf8), pieceBytes: pieceBytes)
        #expect(counts.tracks == 2 && counts.segments == 4 && counts.waypoints == 1)
        #expect(counts.routes == 1 && counts.routePoints == 2)
        #expect(counts.trackPoints == 4 && counts.untimed == 1)
        try #require(points.count == 4)
        #expect(points.map(\.latitude) == [46.5, 46.5, 46.6, 46.7])
        #expect(points.map(\.longitude) == [9.25, 9.26, 9.27, 9.28])
        #expect(points.map(\.beginsSegment) == [true, false, true, true])
        #expect(points.map(\.line) == [8, 12, 15, 17])
        // 2012-10-24T23:29:40Z is 1351121380 by GNU date.
        #expect(
            points.map(\.time) == [
                .at(Timestamp(milliseconds: 1_351_114_180_123)), .at(Timestamp(milliseconds: 1_351_121_381_000)),
                .missing, .at(Timestamp(milliseconds: 1_351_121_382_000)),
            ])
        #expect(points.map(\.altitude) == [410.5, nil, nil, nil])
        #expect(points.map(\.speed) == [2.5, nil, nil, nil])
        #expect(points.map(\.course) == [0, 12.5, nil, nil])
        #expect(points.map(\.horizontalAccuracy) == [nil, 4.5, 7, 9])
        #expect(points.map(\.verticalAccuracy) == [nil, 2, -1, nil])
        #expect(points.map(\.floor) == [nil, nil, 3, nil])

        #expect(points[2].report(now: now) == nil)
        let fix = try #require(points[0].report(now: now)?.fix)
        #expect(fix.coordinate.latitude == 46.5 && fix.altitude == 410.5 && fix.speed == 2.5)
        #expect(fix.horizontalAccuracy == 15)
    }

    /// Loggers seldom write meters. GPX 1.1 gives `hdop`, `sat` and `src`; GPSLogger writes `gps`, `network` and `cell`.
    @Test(arguments: [
        ("<hdop>1.2</hdop><sat>9</sat>", 6.0), ("<hdop>0</hdop><sat>9</sat>", 10), ("<sat>5</sat>", 25),
        ("<sat>3</sat>", 100), ("<src>network</src>", 100), ("<src>cell</src><hdop>1</hdop>", 1000),
        ("<src>gps</src><hdop>2</hdop>", 10), ("<src>gps</src>", nil), ("<hdop>x</hdop><sat>-1</sat>", nil),
        ("<hdop>9</hdop><extensions><accuracy>4</accuracy></extensions>", 4), ("", nil),
    ])
    func `a missing accuracy is estimated from hdop, sat and src`(values: String, meters: Double?) throws {
        let text = """
            <gpx version="1.1"><trk><trkseg><trkpt lat="46.5" lon="9.25"><time>2012-10-24T23:29:40Z</time>\(values)
            </trkpt></trkseg></trk></gpx>
            """
        let (points, _) = try readGPX(Array(text.utf8), pieceBytes: .max)
        let fix = try #require(points.first?.report(now: now)?.fix)
        #expect(fix.horizontalAccuracy.map { ($0 * 1000).rounded() / 1000 } == meters)
    }

    /// A point of GPX 1.0, whose own speed counts more than an extension's.
    @Test func `speed and course may be children of the point itself`() throws {
        let point = "<trkpt lat='1' lon='2'><speed>3</speed><extensions><speed>4</speed></extensions></trkpt>"
        let other = "<trkpt lat='1' lon='2'><extensions><speed>4</speed></extensions><speed>3</speed></trkpt>"
        let (points, _) = try readGPX(
            Array("<gpx version='1.0'><trk><trkseg>\(point)\(other)</trkseg></trk></gpx>".utf8))
        #expect(points.map(\.speed) == [3, 3])
    }

    @Test(arguments: [
        "<gpx>", "<gpx xmlns='http://www.topografix.com/GPX/1/0'>", "<gpx xmlns='urn:another'>", "\u{FEFF}<gpx>",
        "<!DOCTYPE gpx SYSTEM 'http://localhost:9/gpx.dtd'><gpx>",
    ])
    func `any namespace, a byte order mark and a document type without declarations are taken`(start: String) throws {
        let text = "\(start)<trk><trkseg><trkpt lat='1' lon='2'/></trkseg></trk></gpx>"
        #expect(try readGPX(Array(text.utf8)).points.count == 1)
    }

    @Test func `prefixes need not be declared`() throws {
        let text = "<a:gpx><b:trk><b:trkseg><b:trkpt c:lat='1' lon='2'/></b:trkseg></b:trk></a:gpx>"
        #expect(try readGPX(Array(text.utf8)).points.map(\.latitude) == [1])
    }

    @Test(arguments: ["ISO-8859-1", "windows-1252", "ISO-8859-15", "KOI8-R"])
    func `names in encodings of one byte do not matter`(encoding: String) throws {
        let name: [UInt8] = [0xE9, 0x80, 0x9F, 0xA4]
        let bytes =
            Array("<?xml version='1.0' encoding='\(encoding)'?><gpx><trk><name>".utf8) + name
            + Array("</name><trkseg><trkpt lat='1' lon='2'/></trkseg></trk></gpx>".utf8)
        #expect(try readGPX(bytes).points.count == 1)
    }

    @Test func `an encoding whose ASCII bytes may be halves of others is refused`() {
        #expect(throws: GPXError.malformed(line: 1, reason: "unknown encoding")) {
            try readGPX(Array("<?xml version='1.0' encoding='Shift_JIS'?><gpx/>".utf8))
        }
    }

    @Test func `UTF-16 is read`() throws {
        let text =
            "<?xml version='1.0' encoding='UTF-16'?><gpx><trk><trkseg><trkpt lat='1' lon='2'/></trkseg></trk></gpx>"
        let bytes: [UInt8] = [0xFE, 0xFF] + text.utf8.flatMap { [0, $0] as [UInt8] }
        #expect(try readGPX(bytes).points.count == 1)
    }

    @Test(arguments: [
        ("lat='abc' lon='2'", "2012-10-24T23:29:40Z", RejectionReason.badCoordinate),
        ("lon='2'", "2012-10-24T23:29:40Z", .badCoordinate),
        ("lat='91' lon='2'", "2012-10-24T23:29:40Z", .badCoordinate),
        ("lat='nan' lon='2'", "2012-10-24T23:29:40Z", .badCoordinate), ("lat='1' lon='2'", "noon", .badTimestamp),
        ("lat='1' lon='2'", "1989-08-24T00:00:00Z", .badTimestamp),
        ("lat='1' lon='2'", "2099-01-01T00:00:00Z", .inTheFuture),
        ("lat='1' lon='2'", String(repeating: "1", count: 300), .badTimestamp),
        ("lat='0' lon='0'", "1970-01-01T00:00:00Z", .noFix),
    ])
    func `a point that can be no fix is rejected alone`(place: String, time: String, reason: RejectionReason) throws {
        let text = "<gpx><trk><trkseg><trkpt \(place)><time>\(time)</time></trkpt></trkseg></trk></gpx>"
        #expect(try readGPX(Array(text.utf8)).points.first?.report(now: now) == .rejected(reason))
    }

    @Test func `an empty time is none`() throws {
        let text = "<gpx><trk><trkseg><trkpt lat='1' lon='2'><time> </time></trkpt></trkseg></trk></gpx>"
        let (points, counts) = try readGPX(Array(text.utf8))
        #expect(points.map(\.time) == [.missing] && counts.untimed == 1)
    }

    @Test func `a coordinate in another reference system is judged after its transformation`() throws {
        let text =
            "<gpx><trk><trkseg><trkpt lat='5428192.3' lon='3400000'><time>2012-10-24T23:29:40Z</time></trkpt></trkseg></trk></gpx>"
        let point = try #require(try readGPX(Array(text.utf8)).points.first)
        #expect(point.latitude == 5_428_192.3)
        #expect(point.report(now: now) == .rejected(.badCoordinate))
        #expect(point.report(latitude: 49, longitude: 7.6, now: now)?.fix?.coordinate.latitude == 49)
    }

    @Test(arguments: [
        ("", GPXError.malformed(line: 1, reason: "no element found")),
        ("<gpx>\n<trk>\n</gpx>", .malformed(line: 3, reason: "mismatched tag")),
        ("<gpx>\n<trk>", .malformed(line: 2, reason: "no element found")),
        ("\n<kml/>", .notGPX(line: 2)),
        ("<gpx>&secret;</gpx>", .malformed(line: 1, reason: "undefined entity")),
    ])
    func `a broken file ends with a sentence and a line`(text: String, error: GPXError) {
        #expect(throws: error) { try readGPX(Array(text.utf8)) }
        #expect(!error.description.contains("secret") && error.description.hasSuffix("."))
    }

    @Test func `points before the fault can be taken, and the fault stays`() throws {
        var reader = GPXReader()
        let text = "<gpx><trk><trkseg><trkpt lat='1' lon='2'/></trk>"
        var errors: [GPXError] = []
        for piece in [text, "<more/>"] {
            do { try reader.feed(Array(piece.utf8)) } catch { errors.append(error) }
        }
        #expect(errors == Array(repeating: .malformed(line: 1, reason: "mismatched tag"), count: 2))
        #expect(reader.takePoints().count == 1)
    }

    @Test(arguments: [
        "<!ENTITY a 'aaaaaaaaaa'>", "<!ENTITY % p SYSTEM 'file:///etc/passwd'> %p;", "<!ATTLIST trkpt lat CDATA '1'>",
        "",
    ])
    func `a document type with declarations is refused before they are read`(declaration: String) {
        #expect(throws: GPXError.internalSubset(line: 1)) {
            try readGPX(Array("<!DOCTYPE gpx [\(declaration)]><gpx/>".utf8))
        }
    }

    @Test func `elements nested without end are refused`() {
        let text = "<gpx>\n" + String(repeating: "<a>", count: 100_000)
        #expect(throws: GPXError.tooDeep(line: 2)) { try readGPX(Array(text.utf8)) }
    }

    @Test(arguments: ["<gpx a='", "<gpx><!--", "<gpx><?a ", "<gpx><a", "<!DOCTYPE gpx SYSTEM '"])
    func `markup without end is refused, not held`(start: String) {
        #expect(throws: GPXError.markupTooLong(line: 1)) {
            try readGPX(Array(start.utf8) + Array(repeating: UInt8(ascii: "x"), count: 8 << 20))
        }
    }

    @Test func `text without end is passed over`() throws {
        let text = Array(repeating: UInt8(ascii: "x"), count: 4 << 20)
        let start = "<gpx><trk><trkseg><trkpt lat='1' lon='2'><time>"
        let bytes = Array(start.utf8) + text + Array("</time></trkpt></trkseg></trk></gpx>".utf8)
        #expect(try readGPX(bytes).points.map(\.time) == [.unreadable])
    }
}
