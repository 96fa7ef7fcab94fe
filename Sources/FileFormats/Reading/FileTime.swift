package import Whereabouts
import WireFormats

/// A time as files write it, with or without a zone.
enum FileTime: Hashable {
    case missing
    case unreadable
    case at(Timestamp)
    /// The milliseconds since 1970-01-01T00:00:00 on a clock in an unknown zone.
    case local(Int64)

    /// Seconds beyond this are milliseconds: as seconds, 10¹¹ would be the year 5138.
    private static let leastMilliseconds = 1e11

    /// Unix seconds, or milliseconds if the number is at least 10¹¹.
    init(number: Double) {
        let seconds = abs(number) >= Self.leastMilliseconds ? number / 1000 : number
        self = Timestamp(seconds: seconds).map(FileTime.at) ?? .unreadable
    }

    /// Reads a time as text:
    ///
    ///     2025-03-24T20:20:23.5+01:00   2025-03-24 20:07:24 +0100   2025/03/24 19:07:24Z   20250324T190724Z
    ///     24.03.2025 20:07              1742844302                  1742844302585
    ///
    /// A text without a zone is a local time. A date without a time is unreadable. `utc` reads a local time as UTC, for
    /// formats that say so.
    init(_ text: some StringProtocol, utc: Bool = false) {
        var bytes = Array(text.utf8.drop(while: DecimalText.isWhiteSpace))
        while let last = bytes.last, DecimalText.isWhiteSpace(last) { bytes.removeLast() }
        guard !bytes.isEmpty else {
            self = .missing
            return
        }
        guard bytes.count <= 48 else {
            self = .unreadable
            return
        }
        if bytes.allSatisfy({ Self.isDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }),
            let number = DecimalText.parse(bytes), bytes.count != 8
        {
            self.init(number: number)
            return
        }
        var reader = ClockReader(bytes)
        guard let iso = reader.iso(), let time = ISO8601.parse(iso.text) else {
            self = .unreadable
            return
        }
        self = iso.hasZone || utc ? .at(time) : .local(time.milliseconds)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

/// Brings the ways in which files write times to ISO 8601.
private struct ClockReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func iso() -> (text: String, hasZone: Bool)? {
        guard let date = date() else { return nil }
        guard take("T") || take("t") || take(" ") || take(",") else { return nil }
        while take(" ") {}
        guard let clock = clock() else { return nil }
        while take(" ") {}
        let zone = String(decoding: bytes[index...], as: UTF8.self)
        switch zone {
        case "": return ("\(date)T\(clock)", false)
        case "Z", "z", "UTC", "GMT": return ("\(date)T\(clock)Z", true)
        default:
            guard zone.hasPrefix("+") || zone.hasPrefix("-") else { return nil }
            return ("\(date)T\(clock)\(zone)", true)
        }
    }

    /// `yyyy-MM-dd`, `yyyy/MM/dd`, `yyyyMMdd` or `dd.MM.yyyy`.
    private mutating func date() -> String? {
        let run = bytes[index...].prefix { (0x30...0x39).contains($0) }.count
        switch run {
        case 4:
            let year = digits(4)
            for separator in ["-", "/", ":"] as [Unicode.Scalar] where take(separator) {
                guard let month = oneOrTwo(), take(separator), let day = oneOrTwo() else { return nil }
                return "\(year)-\(month)-\(day)"
            }
            return nil
        case 8: return "\(digits(4))-\(digits(2))-\(digits(2))"
        case 1, 2:
            guard let day = oneOrTwo(), take("."), let month = oneOrTwo(), take("."), bytes.count - index >= 4
            else { return nil }
            return "\(digits(4))-\(month)-\(day)"
        default: return nil
        }
    }

    /// `HH:mm`, `HH:mm:ss`, `HH:mm:ss.fff` or `HHmmss`.
    private mutating func clock() -> String? {
        if bytes[index...].prefix(while: { (0x30...0x39).contains($0) }).count == 6 {
            return "\(digits(2)):\(digits(2)):\(digits(2))"
        }
        guard let hour = oneOrTwo(), take(":"), let minute = oneOrTwo() else { return nil }
        guard take(":") else { return "\(hour):\(minute):00" }
        guard let second = oneOrTwo() else { return nil }
        guard take(".") || take(",") else { return "\(hour):\(minute):\(second)" }
        let fraction = bytes[index...].prefix { (0x30...0x39).contains($0) }
        guard !fraction.isEmpty else { return nil }
        index += fraction.count
        return "\(hour):\(minute):\(second).\(String(decoding: fraction, as: UTF8.self))"
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: scalar) else { return false }
        index += 1
        return true
    }

    private mutating func digits(_ count: Int) -> String {
        let piece = bytes[index..<min(index + count, bytes.count)]
        index += piece.count
        return String(decoding: piece, as: UTF8.self)
    }

    /// One or two digits, as two.
    private mutating func oneOrTwo() -> String? {
        let run = bytes[index...].prefix { (0x30...0x39).contains($0) }.count
        switch run {
        case 1: return "0" + digits(1)
        case 2: return digits(2)
        default: return nil
        }
    }
}

/// The zone in which times without one are read.
package struct LocalZone: Sendable {
    private let offsets: [(from: Int64, seconds: Int64)]

    /// A zone of the time zone database.
    package init(_ rules: ZoneRules) {
        offsets =
            [(from: Int64.min, seconds: rules.offsetSeconds)]
            + rules.changes.map { (from: $0.at.milliseconds, seconds: $0.offsetSeconds) }
    }

    /// A fixed offset in seconds east of Greenwich.
    package init(offsetSeconds: Int64) { offsets = [(from: Int64.min, seconds: offsetSeconds)] }

    /// The moment of a local time. A time that occurs twice, when clocks go back, is the first of the two. A time that
    /// does not occur, when clocks go forward, is read with the offset before the change.
    func moment(ofLocal milliseconds: Int64) -> Timestamp {
        let day: Int64 = 86_400_000
        let before = offset(at: milliseconds - day)
        let after = offset(at: milliseconds + day)
        let first = milliseconds - before * 1000
        if before == after || offset(at: first) == before { return Timestamp(milliseconds: first) }
        let second = milliseconds - after * 1000
        return Timestamp(milliseconds: offset(at: second) == after ? second : first)
    }

    private func offset(at milliseconds: Int64) -> Int64 {
        var (low, high) = (0, offsets.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if offsets[middle].from <= milliseconds { low = middle } else { high = middle }
        }
        return offsets[low].seconds
    }
}
