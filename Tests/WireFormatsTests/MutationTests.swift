import Geodesy
import JSON
import TestSupport
import Testing
import Whereabouts

@testable import WireFormats

/// A hundred thousand damaged messages: every input gives reports, and every fix among them is valid.
@Suite struct MutationTests {
    private static let messages = [
        #"{"_type":"location","acc":5,"alt":410,"batt":87,"bs":1,"lat":47.378177,"lon":8.540192,"tst":1767225610,"vel":4}"#,
        #"[{"_type":"location","lat":-25.76,"lon":126.07,"tst":"1721896446","cog":277,"p":100.477},{"_type":"card"}]"#,
        #"{"_type":"transition","event":"enter","tst":1767225610,"wtst":1,"acc":3,"desc":"a\u00e9\n\"b\\"}"#,
        #"{"timestamp":1732147200.123,"latitude":46.5,"longitude":9.25,"floor":-2,"sourceInformation":{"isSimulatedBySoftware":false},"id":"3F2A","remainder":{"a":[1,{}]}}"#,
        #"{"locations":[{"type":"Feature","geometry":{"type":"Point","coordinates":[9.25,46.5]},"properties":{"timestamp":"2026-01-01T00:00:00Z","speed":-1,"battery_level":0.5,"motion":["walking"]}}],"current":null}"#,
        #"{"device_id":"a","location":{"timestamp":"2026-01-01T00:00:00Z","coords":{"latitude":46.5,"longitude":9.25,"heading":-1},"uuid":"3F2A","battery":{"level":0.5}}}"#,
        #"{"reports":[{"type":"authorization","timestamp":1767225610,"status":"denied","accuracy":"reduced"},{"type":"a"}]}"#,
        #"{"fixes":[{"timestamp":"2024-11-21T00:00:01.5Z","latitude":4,"longitude":9,"user":"a"},{"speed":-1, "course":360}]}"#,
    ].map { Array($0.utf8) }

    private static let track = Array(
        """
        <?xml version="1.0" encoding="ISO-8859-1"?><!-- c --><gpx xmlns:x="y"><trk><name>a&amp;b</name><trkseg>
        <trkpt lat="46.5" lon="9.25"><ele>410.5</ele><time>2012-10-24T23:29:40.123+02:00</time><extensions><x:speed>2.5
        </x:speed><hAcc>1e1</hAcc></extensions></trkpt><trkpt lat="1" lon="2"/></trkseg></trk><wpt lat="1" lon="2"/></gpx>
        """.utf8)

    private static let pieces = [
        "-1", "0", "1e308", "-0.0", "18446744073709551616", "null", "true", "\"\"", "{}", "[]", "[[[[[[", "\"", "\\",
        ",",
        ":", "}", "]", "\\ud800", "\u{FEFF}", "é", "\u{0}", "\"lat\":", "\"user\":", "<", ">", "&", "&#0;", "]]>",
        "<![CDATA[",
        "<!DOCTYPE a [", "<trkpt ", "</", "'",
    ].map { Array($0.utf8) }

    private func damage(_ bytes: [UInt8], using random: inout SplitMix) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let start = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, start + Int.random(in: 0...8, using: &random))
            switch Int.random(in: 0..<5, using: &random) {
            case 0: if start < bytes.count { bytes[start] = UInt8.random(in: 0...255, using: &random) }
            case 1: bytes.removeSubrange(start..<end)
            case 2: bytes.insert(contentsOf: bytes[start..<end], at: Int.random(in: 0...bytes.count, using: &random))
            case 3: bytes.removeLast(bytes.count - (Bool.random(using: &random) ? start : bytes.count))
            default: bytes.replaceSubrange(start..<end, with: Self.pieces.randomElement(using: &random) ?? [])
            }
        }
        return bytes
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `damaged messages come to reports, and fixes among them survive a turn through JSON`(seed: UInt64) throws {
        var random = SplitMix(seed)
        var fixes = 0
        for _ in 0..<11_000 {
            let body = damage(Self.messages.randomElement(using: &random) ?? [], using: &random)
            var lines = FixLines(now: now)
            let reports =
                OwnTracks.reports(from: body, now: now) + FixJSON.reports(from: body, now: now)
                + Overland.reports(from: body, now: now) + OsmAnd.reports(ofJSON: body, now: now)
                + ReportJSON.reports(from: body, now: now) + lines.feed(body).map(\.report)
                + lines.finish().map(\.report)
            for case .fix(let fix, let answering) in reports {
                fixes += 1
                var writer = JSONWriter()
                FixJSON.write(fix, answering: answering, into: &writer)
                try #require(FixJSON.reports(from: writer.bytes, now: now) == [.fix(fix, answering: answering)])
                try #require(fix.remainder?.utf8.count ?? 0 <= Limits.remainderBytes)
                if let remainder = fix.remainder { _ = try json(remainder) }
            }
        }
        #expect(fixes > 500, "The damage must leave some messages whole enough.")
    }

    @Test func `damaged tracks end in points or a sentence`() throws {
        var random = SplitMix(99)
        var whole = 0
        for _ in 0..<12_000 {
            var reader = GPXReader()
            let bytes = damage(Self.track, using: &random)
            do throws(GPXError) {
                try reader.feed(bytes)
                try reader.finish()
                whole += 1
            } catch {
                try #require(error.description.hasSuffix("."))
            }
            for point in reader.takePoints() { _ = point.report(now: now) }
        }
        #expect(whole > 1000, "The damage must leave some tracks whole enough.")
    }
}
