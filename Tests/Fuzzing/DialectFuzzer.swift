import FileFormats
import Geodesy
import Glibc
import JSON
import Whereabouts
import WireFormats

// Every input of a dialect gives reports, and every fix among them is valid. Built by `scripts/dev/fuzz` only, with the
// instruments of libFuzzer; the dialect is named by WHEREABOUTS_DIALECT. A dialect `file-NAME` is a format of files, and
// `file-auto` any file, also a packed one.

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ argumentCount: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ takeInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// 2030-01-01T00:00:00Z.
private let now = Timestamp(milliseconds: 1_893_456_000_000)

private enum Dialect: String, CaseIterable {
    case ownTracks, overland, osmAnd, traccarJSON, fixes, reports

    static let chosen: Dialect = {
        guard let dialect = Dialect(rawValue: name) else {
            preconditionFailure("WHEREABOUTS_DIALECT is one of \(allCases.map(\.rawValue)), or file-NAME.")
        }
        return dialect
    }()

    static let name = getenv("WHEREABOUTS_DIALECT").map { String(cString: $0) } ?? ""

    func reports(_ body: [UInt8]) -> [Report] {
        switch self {
        // Encrypted text decrypts to itself, so that the inner message is reached.
        case .ownTracks: OwnTracks.reports(from: body, now: now) { Array($0.utf8) }
        case .overland: Overland.reports(from: body, now: now)
        case .osmAnd: [OsmAnd.report(of: Self.parameters(body), now: now)]
        case .traccarJSON: OsmAnd.reports(ofJSON: body, now: now)
        case .fixes: FixJSON.reports(from: body, now: now)
        case .reports: ReportJSON.reports(from: body, now: now)
        }
    }

    private static func parameters(_ body: [UInt8]) -> [OsmAnd.Parameter] {
        String(decoding: body, as: UTF8.self).split(separator: "&").map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1)
            return (sides.first.map(String.init) ?? "", sides.count > 1 ? String(sides[1]) : "")
        }
    }
}

private func checkReport(_ report: Report) {
    switch report {
    case .fix(let fix, let answering):
        var writer = JSONWriter()
        FixJSON.write(fix, answering: answering, into: &writer)
        precondition(FixJSON.reports(from: writer.bytes, now: now) == [.fix(fix, answering: answering)])
        checkObject(fix.remainder)
        _ = OwnTracks.isAnswer(fix)
        guard let handle = Handle("friend") else { preconditionFailure() }
        let friend = OwnTracksAnswer.Friend(handle: handle, fix: fix)
        let answer = OwnTracksAnswer(friends: [friend], isToReport: true, requests: [])
        precondition((try? JSONDocument.parse(answer.bytes))?.root.array.map { Array($0).count } == 3)
    case .message(let type, let text):
        precondition(type.count <= Limits.messageTypeCharacters)
        checkObject(text)
        _ = OwnTracks.request(text)
    case .waypoint(let waypoint):
        precondition((1...Limits.regionNameCharacters).contains(waypoint.name.count))
    case .sighting(.crossing(let crossing)):
        precondition((1...Limits.regionNameCharacters).contains(crossing.region.count))
    case .sighting, .authorization, .rejected: break
    }
}

private func checkObject(_ text: String?) {
    guard let text else { return }
    precondition(text.utf8.count <= Limits.remainderBytes)
    precondition((try? JSONDocument.parse(Array(text.utf8)))?.root.members != nil)
}

/// A file, and the rules for its records.
private enum ForeignFile {
    /// The format after `file-`, or `auto`; `nil` if a dialect is chosen.
    static let name = Dialect.name.hasPrefix("file-") ? String(Dialect.name.dropFirst(5)) : nil

    static var choices: FileChoices {
        let format = name.flatMap { FileFormat(rawValue: $0) }
        precondition(name == "auto" || format != nil, "There is no format \(name ?? "").")
        return FileChoices(now: now, zone: LocalZone(offsetSeconds: 3600), format: format)
    }

    /// Reads the file in pieces and returns the number of records.
    static func read(_ bytes: [UInt8], pieceBytes: Int) -> Int {
        var rest = bytes[...]
        let reading = FileReading(choices) {
            defer { rest = rest.dropFirst(pieceBytes) }
            return Array(rest.prefix(pieceBytes))
        }
        var count = 0
        do throws(FormatFault) {
            while let records = try reading.next() {
                count += records.count
                for record in records { check(record) }
            }
        } catch { precondition(error.description.hasSuffix("."), "A fault is a sentence.") }
        precondition(reading.position.records <= count)
        return count
    }

    private static func check(_ record: FileRecord) {
        switch record.content {
        case .fix(let fix, _): checkReport(.fix(fix, answering: nil))
        // Devices report visits whose beginning they did not see; archives of this service have those too.
        case .visit(_, .some): break
        case .visit(let visit, nil):
            guard let arrival = visit.arrival else { preconditionFailure("A visit of a file has an arrival.") }
            precondition(visit.departure.map { $0 >= arrival } ?? true)
        case .setting(let setting): precondition((try? JSONDocument.parse(setting.request)) != nil)
        case .untimed, .rejected: break
        }
    }
}

private func take(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let body = Array(UnsafeBufferPointer(start: start, count: count))
    if ForeignFile.name != nil {
        let whole = ForeignFile.read(body, pieceBytes: max(1, body.count))
        precondition(ForeignFile.read(body, pieceBytes: 7) == whole, "A file is the same in pieces of any size.")
        return 0
    }
    let reports = Dialect.chosen.reports(body)
    precondition(reports.count <= Limits.batchCommands)
    for report in reports { checkReport(report) }
    return 0
}

@main enum DialectFuzzer {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(runDriver(&count, &arguments, take))
    }
}
