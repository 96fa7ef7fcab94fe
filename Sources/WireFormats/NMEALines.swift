import Geodesy
import JSON
package import Whereabouts

/// Reads the sentences of a GNSS receiver (NMEA 0183) and makes one fix of each epoch.
///
///     $GPRMC,120000.00,A,4812.34567,N,01621.23456,E,1.94,87.5,211126,,,A*5C
///     $GPGGA,120000.00,4812.34567,N,01621.23456,E,1,08,0.9,171.3,M,43.2,M,,*5A
///
/// RMC has date, place, speed and course, GGA the altitude above mean sea level and the geoid's separation, GST the
/// standard deviations, GSA the dilutions. Sentences with the same time are one epoch. Other sentences are skipped, and
/// so are those without a checksum or with a wrong one, because serial lines lose bytes. An epoch that the receiver
/// marks as void is not a fix.
///
/// - Epochs before the first date wait for it, at most ``undatedMax`` of them. Without any date there are no fixes.
/// - A dilution of precision is not an accuracy: that would also need the range error, which no sentence has. It is
///   kept in the remainder, for example `{"hdop":0.9}`, and the accuracy is unknown without a GST.
/// - GPS counts weeks modulo 1,024, so old receivers jump back by as many weeks. Such a jump between two dates is taken
///   back. A log whose dates are too early from the beginning looks like an old log, and is left as it is.
///
/// The bytes may come in pieces of any size; at most one line is kept. Source: NMEA 0183 4.11 as described by the
/// manuals of its receivers and by "NMEA Revealed" (gpsd project).
package struct NMEALines: Sendable {
    /// The standard's longest sentence has 82 characters; some receivers write longer ones.
    package static let lineBytes = 256
    /// The epochs that wait for the first date: an hour of one a second.
    static let undatedMax = 3600
    /// 1,024 weeks in days, after which GPS counts them again from 0.
    private static let weekCycleDays: Int64 = 7168

    /// The counts so far.
    package private(set) var counts = Counts()
    private var partial: [UInt8] = []
    private var isTooLong = false
    private var epoch = NMEAEpoch()
    /// The day and time of the last RMC, in days since 1970 and milliseconds.
    private var day: (days: Int64, millisecond: Int64)?
    /// The epochs before the first date.
    private var undated: [NMEAEpoch] = []
    /// The days to add to each date after a roll-over of the weeks.
    private var addedDays: Int64 = 0

    /// The number of sentences.
    package struct Counts: Hashable, Sendable {
        /// All sentences, including damaged ones.
        package var sentences = 0
        /// Sentences without a checksum, with a wrong one, too long, or with a field that violates the standard.
        package var damaged = 0
    }

    private let requiresChecksum: Bool

    /// A reader at the beginning of the output.
    ///
    /// - Parameter requiresChecksum: Whether sentences without a checksum are skipped. Serial lines lose bytes; files are
    ///   whole, and some programs write them without checksums.
    package init(requiresChecksum: Bool = true) { self.requiresChecksum = requiresChecksum }

    /// Takes the next bytes and returns the fixes of the epochs that end in them.
    package mutating func feed(_ bytes: some Sequence<UInt8>) -> [Fix] {
        var fixes: [Fix] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                fixes += endLine()
            } else if partial.count < Self.lineBytes {
                partial.append(byte)
            } else {
                isTooLong = true
            }
        }
        return fixes
    }

    /// Ends the input, and with it the last line and the last epoch.
    package mutating func finish() -> [Fix] {
        endLine() + endEpoch()
    }

    private mutating func endLine() -> [Fix] {
        defer { (partial, isTooLong) = ([], false) }
        // A line may begin with the rest of one that was cut.
        guard let start = partial.lastIndex(of: UInt8(ascii: "$")) else {
            if isTooLong { counts.damaged += 1 }
            return []
        }
        guard !isTooLong, let fields = fields(of: partial[start...]) else {
            counts.damaged += 1
            return []
        }
        counts.sentences += 1
        guard let type = fields.first, type.utf8.count == 5 else { return [] }
        switch type.suffix(3) {
        case "RMC", "GGA", "GST":
            guard fields.count > 1, let millisecond = Self.time(fields[1]) else {
                // A receiver without a time leaves the field empty.
                if fields.count <= 1 || !fields[1].isEmpty { counts.damaged += 1 }
                return []
            }
            var finished: [Fix] = []
            if let old = epoch.millisecond, old != millisecond { finished = endEpoch() }
            epoch.millisecond = millisecond
            if type.hasSuffix("RMC") { take(date: fields) }
            if !epoch.take(fields) { counts.damaged += 1 }
            return finished
        case "GSA":
            epoch.takeDilutions(fields)
            return []
        default: return []
        }
    }

    private mutating func take(date fields: [Substring]) {
        guard fields.count > 9, let millisecond = epoch.millisecond, let days = Self.days(fields[9]) else { return }
        // Two sentences follow each other, so the true difference is a day at the most.
        if let day, abs(day.days - (days + addedDays) - Self.weekCycleDays) <= 1 { addedDays += Self.weekCycleDays }
        day = (days + addedDays, millisecond)
    }

    private mutating func endEpoch() -> [Fix] {
        defer { epoch = NMEAEpoch() }
        guard epoch.millisecond != nil else { return [] }
        guard let day else {
            if undated.count < Self.undatedMax { undated.append(epoch) }
            return []
        }
        defer { undated = [] }
        return undated.compactMap { Self.fix($0, day) } + [Self.fix(epoch, day)].compactMap { $0 }
    }

    /// An epoch without an RMC has the day of the nearest date: the next one just after midnight, the one before just
    /// before it.
    private static func fix(_ epoch: NMEAEpoch, _ day: (days: Int64, millisecond: Int64)) -> Fix? {
        guard let millisecond = epoch.millisecond else { return nil }
        let later: Int64 = millisecond + 43_200_000 < day.millisecond ? 1 : 0
        let earlier: Int64 = millisecond > day.millisecond + 43_200_000 ? 1 : 0
        let days = day.days + later - earlier
        return epoch.fix(at: Timestamp(milliseconds: days * 86_400_000 + millisecond))
    }

    /// The fields of a sentence with a valid checksum.
    private func fields(of line: ArraySlice<UInt8>) -> [Substring]? {
        var line = line.dropFirst()
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        if !requiresChecksum, !line.contains(UInt8(ascii: "*")), line.allSatisfy({ (0x20...0x7E).contains($0) }) {
            return String(decoding: line, as: UTF8.self).split(separator: ",", omittingEmptySubsequences: false)
        }
        guard let star = line.lastIndex(of: UInt8(ascii: "*")), line.count - (star - line.startIndex) == 3,
            let wanted = UInt8(String(decoding: line[(star + 1)...], as: UTF8.self), radix: 16),
            line[..<star].reduce(0, ^) == wanted, line[..<star].allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return String(decoding: line[..<star], as: UTF8.self)
            .split(separator: ",", omittingEmptySubsequences: false)
    }

    /// `hhmmss` with or without decimals, as milliseconds of the day.
    private static func time(_ text: Substring) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 6, let hour = digits(bytes[0..<2]), let minute = digits(bytes[2..<4]),
            let second = digits(bytes[4..<6]), hour < 24, minute < 60, second <= 60
        else { return nil }
        var milliseconds: Int64 = 0
        if bytes.count > 6 {
            guard bytes[6] == UInt8(ascii: "."), bytes.count <= 12 else { return nil }
            let places = bytes[7...].prefix(3)
            guard bytes[7...].allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            milliseconds = (digits(places) ?? 0) * [1000, 100, 10, 1][places.count]
        }
        return ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds
    }

    /// `ddmmyy`: 80 to 99 are in the last century, because GPS began in 1980.
    private static func days(_ text: Substring) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 6, let day = digits(bytes[0..<2]), let month = digits(bytes[2..<4]),
            let year = digits(bytes[4..<6])
        else { return nil }
        let full = year >= 80 ? 1900 + year : 2000 + year
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return ISO8601.parse("\(full)-\(two(month))-\(two(day))T00:00:00Z").map { $0.milliseconds / 86_400_000 }
    }

    private static func digits(_ bytes: ArraySlice<UInt8>) -> Int64? {
        guard bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return bytes.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}

/// The content of the sentences with one time.
private struct NMEAEpoch {
    var millisecond: Int64?
    private var latitude: Double?
    private var longitude: Double?
    private var isVoid = false
    private var altitude: Double?
    private var separation: Double?
    private var knots: Double?
    private var course: Double?
    private var horizontalDilution: Double?
    private var verticalDilution: Double?
    private var sigma: (latitude: Double, longitude: Double, altitude: Double?)?

    /// Takes an RMC, GGA or GST; `false` if a field cannot be read.
    mutating func take(_ fields: [Substring]) -> Bool {
        func number(_ index: Int) -> Double? {
            index < fields.count ? DecimalText.parse(Array(fields[index].utf8)) : nil
        }
        switch fields[0].suffix(3) {
        case "RMC":
            guard fields.count >= 10 else { return false }
            if fields[2] != "A" { isVoid = true }
            (knots, course) = (number(7), number(8))
            return takePlace(fields[3...6])
        case "GGA":
            guard fields.count >= 12 else { return false }
            if number(6) ?? 0 == 0 { isVoid = true }
            horizontalDilution = number(8) ?? horizontalDilution
            (altitude, separation) = (number(9), number(11))
            return takePlace(fields[2...5])
        default:
            guard let north = number(6), let east = number(7) else { return false }
            sigma = (north, east, number(8))
            return true
        }
    }

    /// Takes a GSA, which has no time and belongs to the present epoch.
    mutating func takeDilutions(_ fields: [Substring]) {
        guard fields.count >= 18 else { return }
        horizontalDilution = DecimalText.parse(Array(fields[16].utf8)) ?? horizontalDilution
        verticalDilution = DecimalText.parse(Array(fields[17].utf8)) ?? verticalDilution
    }

    /// Latitude, N or S, longitude, E or W. Empty fields are not damage: there is no fix yet.
    private mutating func takePlace(_ fields: ArraySlice<Substring>) -> Bool {
        let fields = Array(fields)
        if fields[0].isEmpty, fields[2].isEmpty { return true }
        guard let latitude = Self.degrees(fields[0], digits: 2, fields[1], ("N", "S")),
            let longitude = Self.degrees(fields[2], digits: 3, fields[3], ("E", "W"))
        else { return false }
        (self.latitude, self.longitude) = (latitude, longitude)
        return true
    }

    /// `ddmm.mmmm` or `dddmm.mmmm`.
    private static func degrees(
        _ text: Substring, digits: Int, _ side: Substring, _ sides: (Substring, Substring)
    ) -> Double? {
        guard side == sides.0 || side == sides.1, let whole = Double(text.prefix(digits)),
            let minutes = DecimalText.parse(Array(text.dropFirst(digits).utf8)), (0..<60).contains(minutes)
        else { return nil }
        return (whole + minutes / 60) * (side == sides.0 ? 1 : -1)
    }

    func fix(at timestamp: Timestamp) -> Fix? {
        guard !isVoid, let latitude, let longitude,
            let coordinate = try? Coordinate(latitude: latitude, longitude: longitude)
        else { return nil }
        var fix = Fix(timestamp: timestamp, coordinate: coordinate)
        if let sigma {
            // The radius whose square is the mean square error; 63 to 68 % of the fixes are within it.
            fix.horizontalAccuracy = Sentinel.known(
                (sigma.latitude * sigma.latitude + sigma.longitude * sigma.longitude).squareRoot())
        }
        fix.remainder = dilutions
        fix.altitude = altitude.flatMap(Sentinel.known)
        if let altitude, let separation { fix.ellipsoidalAltitude = Sentinel.known(altitude + separation) }
        if altitude != nil { fix.verticalAccuracy = sigma?.altitude }
        // A knot is 1852 m per hour.
        fix.speed = knots.flatMap(Sentinel.nonNegative).flatMap { Sentinel.known($0 * 1852 / 3600) }
        fix.course = course.flatMap(Sentinel.course)
        return fix
    }

    /// The dilutions as the fix's remainder; `nil` if the receiver gave none.
    private var dilutions: String? {
        let known = [("hdop", horizontalDilution), ("vdop", verticalDilution)].compactMap { name, value in
            value.flatMap(Sentinel.nonNegative).flatMap(Sentinel.known).map { (name, $0) }
        }
        guard !known.isEmpty else { return nil }
        var writer = JSONWriter()
        writer.beginObject()
        for (name, value) in known { writer.field(name, value) }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
