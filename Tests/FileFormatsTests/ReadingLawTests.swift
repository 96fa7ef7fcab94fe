import Geodesy
import JSON
import TestSupport
import Testing
import Whereabouts
import WireFormats

@testable import FileFormats

/// Laws that hold for every format.
@Suite struct ReadingLawTests {
    /// One small file of each format.
    static let files: [(format: FileFormat, text: String)] = [
        (
            .gpx,
            #"<gpx><trk><trkseg><trkpt lat="1" lon="2"><time>2026-07-01T10:00:00Z</time></trkpt></trkseg></trk></gpx>"#
        ),
        (
            .fixes,
            #"{"timestamp":1782900000,"latitude":1,"longitude":2}"# + "\n"
                + #"{"timestamp":1782900001,"latitude":1,"longitude":2}"#
        ),
        (
            .googleRecords,
            #"{"a":{"b":["\"]"]},"locations":[{"latitudeE7":1,"longitudeE7":2,"timestampMs":"1782900000000"},3]}"#
        ),
        (
            .googleSemantic,
            #"{"timelineObjects":[{"activitySegment":{"startLocation":{"latitudeE7":1,"longitudeE7":2},"duration":{"startTimestampMs":"1782900000000"}}}]}"#
        ),
        (
            .googleTimeline,
            #"{"semanticSegments":[{"startTime":"2026-07-01T10:00:00Z","timelinePath":[{"point":"1°, 2°","time":"2026-07-01T10:00:00Z"}]}]}"#
        ),
        (
            .googleTimelineIPhone,
            #"[{"startTime":"2026-07-01T10:00:00Z","timelinePath":[{"point":"geo:1,2","durationMinutesOffsetFromStartTime":"1"}]}]"#
        ),
        (
            .googleEdits,
            #"{"timelineEdits":[{"rawSignal":{"signal":{"position":{"point":{"latE7":1,"lngE7":2},"timestamp":"2026-07-01T10:00:00Z"}}}}]}"#
        ),
        (.ownTracks, "2026-07-01T10:00:00Z\t*\t" + #"{"_type":"location","lat":1,"lon":2,"tst":1782900000}"# + "\n"),
        (.ownTracks, #"{"count":1,"data":[{"_type":"location","lat":1,"lon":2,"tst":1782900000}]}"#),
        (
            .geoJSON,
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"time":"2026-07-01T10:00:00Z"}}"#
        ),
        (
            .geoJSON,
            #"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"time":1782900000}}]}"#
        ),
        (.csv, "time,lat,lon\r\n\"2026-07-01T10:00:00Z\",1,2\r\n"),
        (
            .kml,
            "<kml><Placemark><TimeStamp><when>2026-07-01T10:00:00Z</when></TimeStamp><Point><coordinates>2,1</coordinates></Point></Placemark><Track><when>2026-07-01T10:00:01Z</when><coord>2 1 3</coord><SimpleArrayData name=\"speed\"><value>1</value></SimpleArrayData></Track></kml>"
        ),
        (
            .tcx,
            "  <?xml version=\"1.0\"?><TrainingCenterDatabase><Trackpoint><Time>2026-07-01T10:00:00</Time><Position><LatitudeDegrees>1</LatitudeDegrees><LongitudeDegrees>2</LongitudeDegrees></Position></Trackpoint></TrainingCenterDatabase>"
        ),
        (
            .nmea,
            "$GPRMC,120000.00,A,4812.34567,N,01621.23456,E,1.94,87.5,211126,,\r\n$GPGGA,120000.00,4812.34567,N,01621.23456,E,1,08,0.9,171.3,M,43.2,M,,\r\n"
        ),
        (.igc, "AXXX001\nHFDTE310726\nB2359505206343N00006198WA0058700558\n"),
        (
            .arc,
            #"{"timelineItems":[{"samples":[{"location":{"latitude":1,"longitude":2,"timestamp":"2026-07-01T10:00:00Z"}}]}]}"#
        ),
        (.polarsteps, #"{"locations":[{"lat":1,"lon":2,"time":1782900000}]}"#),
        (
            .overland,
            #"{"locations":[{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"timestamp":"2026-07-01T10:00:00Z"}}]}"#
        ),
        (.dawarich, #"{"lonlat":"POINT (2 1)","timestamp":1782900000}"#),
        (
            .geoPulse,
            #"{"dataType":"rawgps","points":[{"timestamp":"2026-07-01T10:00:00Z","latitude":1,"longitude":2}]}"#
        ),
        (
            .moves,
            #"[{"date":"20260701","segments":[{"type":"move","activities":[{"trackPoints":[{"lat":1,"lon":2,"time":"20260701T100000Z"}]}]}]}]"#
        ),
        (.samsungHealth, #"[{"start_time":1782900000000,"latitude":1,"longitude":2,"accuracy":3}]"#),
        (
            .whereabouts,
            #"{"user":"a","type":"visit","latitude":1,"longitude":2,"arrival":1782900000,"timestamp":1782900000}"#
                + "\n"
                + #"{"user":"a","id":"x","circle":{}}"# + "\n" + #"{"user":"a","type":"split","at":1782900000}"#
        ),
    ]

    static let bytes: [(format: FileFormat, bytes: [UInt8])] =
        files.map { ($0.format, Array($0.text.utf8)) } + [(.fit, FITWriter.sample)]

    @Test func `every format is known by its content, and gives a fix or what else it has`() {
        for (format, bytes) in Self.bytes {
            let found = read(bytes)
            #expect(found.fault == nil, "\(format)")
            #expect(found.summary.parts == [format: 1], "\(format)")
            // The fixes of an archive are in separate files.
            #expect(!found.fixes.isEmpty || format == .whereabouts && found.records.count == 3, "\(format)")
        }
        #expect(Set(Self.bytes.map(\.format)) == Set(FileFormat.allCases))
    }

    @Test func `a file gives the same in pieces of any size`() {
        for (format, bytes) in Self.bytes {
            let whole = describe(read(bytes, pieceBytes: 1 << 20))
            for size in [1, 2, 3, 7, 64] {
                #expect(describe(read(bytes, pieceBytes: size)) == whole, "\(format) \(size)")
            }
        }
    }

    @Test func `a file read on from any position gives the rest`() {
        for (format, bytes) in Self.bytes {
            let whole = read(bytes).records.count
            for done in 0...whole {
                let rest = read(bytes, after: FilePosition(part: 0, records: done))
                #expect(rest.records.count == whole - done, "\(format)")
            }
        }
    }

    @Test func `a file that ends anywhere gives the fixes before, and no others`() {
        for (format, bytes) in Self.bytes {
            let fixes = Set(read(bytes).fixes.map(\.coordinate))
            for length in 0..<bytes.count {
                let found = read(Array(bytes.prefix(length)), format: format)
                // A number that is cut is another number.
                if [.fit, .gpx, .kml, .tcx].contains(format) || format.placeWord == "record" {
                    #expect(Set(found.fixes.map(\.coordinate)).isSubset(of: fixes), "\(format) \(length)")
                }
            }
        }
    }

    /// Every input ends in records and a sentence; fixes survive a turn through JSON.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func `damaged files end in records or a sentence`(seed: UInt64) throws {
        var random = SplitMix(seed)
        var fixes = 0
        for round in 0..<1200 {
            let (format, sound) = Self.bytes[round % Self.bytes.count]
            let bytes = damaged(sound, using: &random)
            for chosen in [nil, format] {
                let found = read(bytes, zone: LocalZone(offsetSeconds: 3600), format: chosen, pieceBytes: 64)
                for fix in found.fixes {
                    fixes += 1
                    var writer = JSONWriter()
                    FixJSON.write(fix, into: &writer)
                    try #require(FixJSON.reports(from: writer.bytes, now: now) == [.fix(fix, answering: nil)])
                }
                if let fault = found.fault { #expect(fault.description.hasSuffix(".")) }
            }
        }
        #expect(fixes > 200, "The damage must leave some files whole enough.")
    }

    private func damaged(_ bytes: [UInt8], using random: inout SplitMix) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let start = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, start + Int.random(in: 0...8, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: if start < bytes.count { bytes[start] = UInt8.random(in: 0...255, using: &random) }
            case 1: bytes.removeSubrange(start..<end)
            case 2: bytes.insert(contentsOf: bytes[start..<end], at: Int.random(in: 0...bytes.count, using: &random))
            default:
                let pieces = [
                    "-1", "1e308", "\"", "{", "}", "[", "]", ",", "\n", "null", "<", ">", "&", "\u{0}", "99999999999",
                ]
                bytes.replaceSubrange(start..<end, with: Array((pieces.randomElement(using: &random) ?? "").utf8))
            }
        }
        return bytes
    }

    private func describe(_ found: Found) -> String {
        let records = found.records.map { record in
            switch record.content {
            case .fix(let fix, _): "\(record.place) \(fix.timestamp.milliseconds) \(fix.hashValue)"
            case .visit(let visit, _): "\(record.place) \(visit.hashValue)"
            case .untimed(let place): "\(record.place) \(place.hashValue)"
            case .setting(let setting): "\(record.place) \(setting.request.hashValue)"
            case .rejected(let reason): "\(record.place) \(reason)"
            }
        }
        return "\(records) \(found.fault?.description ?? "") \(found.summary.passedOver.sentences { "\($0)" })"
    }
}
