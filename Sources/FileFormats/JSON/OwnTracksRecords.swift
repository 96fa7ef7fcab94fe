import JSON
import Whereabouts
import WireFormats

/// The lines of the OwnTracks Recorder's `.rec` files:
///
///     2026-01-01T00:00:10Z<tab>*                 <tab>{"_type":"location","lat":47.378177,"lon":8.540192,…}
///
/// Old files have spaces in place of tabs. The payload is read as a live message is, so a fix has the same identity.
final class OwnTracksRecords: RecordReader {
    /// The longest line; messages of the apps have 200 to 2000 bytes.
    private static let lineBytes = 256 << 10
    private let choices: FileChoices
    private var lines = LineFeeder(bytesMax: lineBytes)
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices) { self.choices = choices }

    /// Whether a file begins with the time that leads each line.
    static func isLines(_ prefix: [UInt8]) -> Bool {
        let line = prefix.drop(while: DecimalText.isWhiteSpace).prefix { $0 != 0x0A }
        let time = line.prefix { !DecimalText.isWhiteSpace($0) }
        guard time.count == 20, time.last == UInt8(ascii: "Z"),
            ISO8601.parse(String(decoding: time, as: UTF8.self)) != nil
        else { return false }
        // A topic follows, and a payload, which need not be JSON.
        let rest = line.dropFirst(20).drop(while: DecimalText.isWhiteSpace)
        return rest.starts(with: "*".utf8) || rest.contains(UInt8(ascii: "{"))
            || rest.starts(with: "lwt".utf8) || rest.starts(with: "cmd".utf8) || rest.starts(with: "event".utf8)
    }

    func read(_ bytes: ArraySlice<UInt8>, into records: inout [FileRecord]) throws(FormatFault) {
        var found: [FileRecord] = []
        defer { records += found }
        try lines.read(bytes) { (line: LineFeeder.Line) throws(FormatFault) in take(line, &found) }
    }

    func finish(into records: inout [FileRecord]) throws(FormatFault) {
        var found: [FileRecord] = []
        defer { records += found }
        try lines.finish { (line: LineFeeder.Line) throws(FormatFault) in take(line, &found) }
    }

    private func take(_ line: LineFeeder.Line, _ records: inout [FileRecord]) {
        if line.text.allSatisfy(DecimalText.isWhiteSpace) { return }
        if line.isCut {
            records.append(FileRecord(place: line.number, content: .rejected(.tooLarge)))
            return
        }
        guard let start = line.text.firstIndex(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }) else {
            // A payload that is not JSON.
            passedOver.add(.otherMessages)
            return
        }
        OwnTracksMessages.take(
            Array(line.text[start...]), place: line.number, now: choices.now, into: &records, &passedOver)
    }
}

/// Single OwnTracks messages, lists of them, and the answers of the Recorder's API (`{"count":1,"data":[…]}`).
struct OwnTracksMessages: JSONElements {
    static let arrays = ["data"]
    private let choices: FileChoices
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices, _ format: FileFormat) { self.choices = choices }

    static func isAlone(_ keys: JSONKeys) -> Bool { !keys.isArray && keys.paths.contains("_type") }

    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault) {
        Self.take(Array(element.text), place: element.place, now: choices.now, into: &records, &passedOver)
    }

    static func take(
        _ message: [UInt8], place: Int, now: Timestamp, into records: inout [FileRecord], _ passedOver: inout PassedOver
    ) {
        for report in OwnTracks.reports(from: message, now: now) {
            switch report {
            case .fix, .rejected, .sighting(.visit): records.append(FileRecord(report, place: place))
            case .waypoint: passedOver.add(.regions)
            case .sighting, .authorization, .message: passedOver.add(.otherMessages)
            }
        }
    }
}
