import Whereabouts
import WireFormats

/// The fixes of a flight record (FAI, "Technical Specification for IGC-Approved GNSS Flight Recorders"):
///
///     HFDTE210926                                 or HFDTEDATE:210926,01: day, month, year
///     I023638FXA3940SIU                           columns 36 to 38 are the accuracy in meters
///     B1101355206343N00006198WA0058700558012      time, place, A or V, pressure altitude, GNSS altitude, extensions
///
/// The times are UTC. A fix before the one before it is of the next day. `V` marks a fix without an altitude by GNSS. The
/// GNSS altitude is above the WGS 84 ellipsoid.
final class IGCRecords: RecordReader {
    private let choices: FileChoices
    private var lines = LineFeeder(bytesMax: 1024)
    private(set) var passedOver = PassedOver()
    /// Milliseconds of the day's beginning.
    private var day: Int64?
    private var lastOfDay: Int64?
    private var accuracy: Range<Int>?

    init(_ choices: FileChoices) { self.choices = choices }

    /// Whether a file begins with a recorder's name and has a date or fixes.
    static func isOne(_ lines: [String]) -> Bool {
        guard let first = lines.first, first.hasPrefix("A"), first.utf8.count >= 4 else { return false }
        return lines.contains { $0.hasPrefix("HFDTE") || $0.hasPrefix("HOPLT") || isFix(Array($0.utf8)) }
    }

    private static func isFix(_ line: [UInt8]) -> Bool {
        line.count >= 35 && line[0] == UInt8(ascii: "B") && line[1..<7].allSatisfy { (0x30...0x39).contains($0) }
            && (line[24] == UInt8(ascii: "A") || line[24] == UInt8(ascii: "V"))
    }

    func read(_ bytes: ArraySlice<UInt8>, into records: inout [FileRecord]) throws(FormatFault) {
        var found: [FileRecord] = []
        defer { records += found }
        try lines.read(bytes) { (line: LineFeeder.Line) throws(FormatFault) in try take(line, &found) }
    }

    func finish(into records: inout [FileRecord]) throws(FormatFault) {
        var found: [FileRecord] = []
        defer { records += found }
        try lines.finish { (line: LineFeeder.Line) throws(FormatFault) in try take(line, &found) }
    }

    private func take(_ line: LineFeeder.Line, _ records: inout [FileRecord]) throws(FormatFault) {
        let text = Array(line.text)
        switch text.first {
        case UInt8(ascii: "H"):
            let word = String(decoding: text, as: UTF8.self).uppercased()
            if word.hasPrefix("HFDTE") || word.hasPrefix("HODTE") || word.hasPrefix("HPDTE") {
                let digits = word.dropFirst(5).drop { !$0.isNumber }.prefix(6)
                day = Self.day(digits)
                lastOfDay = nil
            }
        case UInt8(ascii: "I"): accuracy = Self.column("FXA", of: text)
        case UInt8(ascii: "B"):
            guard Self.isFix(text) else {
                records.append(FileRecord(place: line.number, content: .rejected(.badValue)))
                return
            }
            guard day != nil else {
                throw .malformed(.igc, "line \(line.number) is a fix before any date (HFDTE).")
            }
            records.append(FileRecord(draft(text), place: line.number, now: choices.now))
        default: break
        }
    }

    private func draft(_ line: [UInt8]) -> FixDraft {
        func number(_ range: Range<Int>) -> Int64? {
            range.upperBound <= line.count ? Int64(String(decoding: line[range], as: UTF8.self)) : nil
        }
        var draft = FixDraft()
        draft.latitude = Self.degrees(number(7..<9), number(9..<14), line[14], "N", "S")
        draft.longitude = Self.degrees(number(15..<18), number(18..<23), line[23], "E", "W")
        if line[24] == UInt8(ascii: "A") { draft.ellipsoidalAltitude = number(30..<35).map(Double.init) }
        draft.horizontalAccuracy = accuracy.flatMap(number).map(Double.init).flatMap(Sentinel.nonNegative)
        draft.time = .unreadable
        if let hour = number(1..<3), let minute = number(3..<5), let second = number(5..<7), hour < 24, minute < 60,
            second < 61, var day
        {
            let ofDay = ((hour * 60 + minute) * 60 + second) * 1000
            // A recorder's clock may step back by seconds; midnight is a step of most of a day.
            if let last = lastOfDay, ofDay < last - 43_200_000 {
                day += 86_400_000
                self.day = day
            }
            lastOfDay = ofDay
            draft.time = .at(Timestamp(milliseconds: day + ofDay))
        }
        return draft
    }

    /// Degrees, thousandths of minutes, and a side.
    private static func degrees(
        _ whole: Int64?, _ thousandths: Int64?, _ side: UInt8, _ plus: Unicode.Scalar, _ minus: Unicode.Scalar
    ) -> Double {
        guard let whole, let thousandths, whole >= 0, (0..<60_000).contains(thousandths),
            side == UInt8(ascii: plus) || side == UInt8(ascii: minus)
        else { return .nan }
        let degrees = Double(whole * 60_000 + thousandths) / 60_000
        return side == UInt8(ascii: plus) ? degrees : -degrees
    }

    /// `DDMMYY`; 80 to 99 are in the last century.
    private static func day(_ digits: Substring) -> Int64? {
        guard digits.utf8.count == 6, let year = Int(digits.suffix(2)) else { return nil }
        let date = "\(year >= 80 ? 1900 + year : 2000 + year)-\(digits.dropFirst(2).prefix(2))-\(digits.prefix(2))"
        return ISO8601.parse("\(date)T00:00:00Z")?.milliseconds
    }

    /// The place of an extension in `I` lines: a count, then first column, last column and name for each.
    private static func column(_ name: String, of line: [UInt8]) -> Range<Int>? {
        var index = 3
        while index + 7 <= line.count {
            let first = Int(String(decoding: line[index..<(index + 2)], as: UTF8.self))
            let last = Int(String(decoding: line[(index + 2)..<(index + 4)], as: UTF8.self))
            if line[(index + 4)..<(index + 7)].elementsEqual(name.utf8), let first, let last, first >= 36, first <= last
            {
                return (first - 1)..<last
            }
            index += 7
        }
        return nil
    }
}
