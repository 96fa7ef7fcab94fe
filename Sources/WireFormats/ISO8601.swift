package import Whereabouts

/// Date and time as text (ISO 8601, RFC 3339, `xs:dateTime`), by integer arithmetic. Milliseconds stay exact;
/// Foundation's formatter turns 0.123 s into 0.122 s.
package enum ISO8601 {
    /// Reads `2012-10-24T23:29:40.123+02:00`.
    ///
    /// The fraction (after `.` or `,`) may have any number of digits and is rounded to the nearest millisecond. The
    /// offset is `Z`, `±hh:mm`, `±hhmm` or `±hh`, up to 23:59; without one, the time is UTC. `t`, `z`, and a space for
    /// the `T` are accepted, white space around the text is not. `24:00:00` is the next day's midnight; second 60 (a
    /// leap second) is the first of the next minute, as in POSIX time. Years are 0000…9999 in the Gregorian calendar,
    /// also before 1582.
    ///
    /// - Returns: `nil` for any other text, including dates without a time.
    package static func parse(_ text: String) -> Timestamp? {
        parse(utf8: text.utf8)
    }

    static func parse(utf8 text: some Sequence<UInt8>) -> Timestamp? {
        var reader = DigitReader(text)
        guard let year = reader.number(digits: 4), reader.take("-"),
            let month = reader.number(digits: 2), reader.take("-"), let day = reader.number(digits: 2),
            reader.take("T") || reader.take("t") || reader.take(" "),
            let hour = reader.number(digits: 2), reader.take(":"),
            let minute = reader.number(digits: 2), reader.take(":"), let second = reader.number(digits: 2),
            (1...12).contains(month), (1...days(inMonth: month, year: year)).contains(day),
            minute < 60, second <= 60, hour < 24 || hour == 24 && minute == 0 && second == 0
        else { return nil }

        var milliseconds: Int64 = 0
        if reader.take(".") || reader.take(",") {
            guard let fraction = reader.fractionMilliseconds() else { return nil }
            if hour == 24 && fraction != 0 { return nil }
            milliseconds = fraction
        }
        guard let offsetMinutes = reader.offsetMinutes(), reader.isAtEnd else { return nil }

        let seconds = daysSince1970(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second
        return Timestamp(milliseconds: (seconds - offsetMinutes * 60) * 1000 + milliseconds)
    }

    /// Writes `2012-10-24T21:29:40.123Z`: UTC, always three decimals.
    ///
    /// Years outside 0000…9999 get a sign and as many digits as they need (ISO 8601 expanded form), which
    /// ``parse(_:)`` does not read.
    package static func text(of timestamp: Timestamp) -> String {
        let (days, millisecondOfDay) = floorDivision(timestamp.milliseconds, by: 86_400_000)
        let date = civilDate(daysSince1970: days)
        let second = millisecondOfDay / 1000
        var text: [UInt8] = []
        text.reserveCapacity(24)
        if date.year < 0 || date.year > 9999 { text.append(UInt8(ascii: date.year < 0 ? "-" : "+")) }
        append(Int64(date.year.magnitude), digits: 4, to: &text)
        for (separator, number) in [("-", date.month), ("-", date.day)] as [(Unicode.Scalar, Int64)] {
            text.append(UInt8(ascii: separator))
            append(number, digits: 2, to: &text)
        }
        let clock: [(Unicode.Scalar, Int64)] = [("T", second / 3600), (":", second / 60 % 60), (":", second % 60)]
        for (separator, number) in clock {
            text.append(UInt8(ascii: separator))
            append(number, digits: 2, to: &text)
        }
        text.append(UInt8(ascii: "."))
        append(millisecondOfDay % 1000, digits: 3, to: &text)
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(_ number: Int64, digits: Int, to text: inout [UInt8]) {
        let plain = String(number).utf8
        text.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: max(0, digits - plain.count)))
        text.append(contentsOf: plain)
    }

    private static func days(inMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days of the proleptic Gregorian calendar, after Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms",
    /// `days_from_civil`: years begin in March, so that the leap day is a year's last, and come in eras of 400.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let (era, yearOfEra) = floorDivision(month <= 2 ? year - 1 : year, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The inverse, `civil_from_days` there.
    private static func civilDate(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivision(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }

    private static func floorDivision(_ a: Int64, by b: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = a.quotientAndRemainder(dividingBy: b)
        return remainder < 0 ? (quotient - 1, remainder + b) : (quotient, remainder)
    }
}

/// Reads a date from left to right, one byte of look-ahead.
private struct DigitReader<Bytes: IteratorProtocol> where Bytes.Element == UInt8 {
    private var rest: Bytes
    private var next: UInt8?

    init<Text: Sequence>(_ text: Text) where Text.Iterator == Bytes {
        rest = text.makeIterator()
        next = rest.next()
    }

    var isAtEnd: Bool { next == nil }

    mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        next = rest.next()
        return true
    }

    mutating func number(digits: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// One digit or more, rounded; 1000 when rounding carries.
    mutating func fractionMilliseconds() -> Int64? {
        guard var digit = digit() else { return nil }
        var milliseconds: Int64 = 0
        var unit: Int64 = 100
        while true {
            if unit > 0 {
                milliseconds += digit * unit
            } else if unit == 0 && digit >= 5 {
                milliseconds += 1
            }
            // The first digit after the milliseconds rounds; the others are ignored.
            unit = unit > 0 ? unit / 10 : -1
            guard let following = self.digit() else { return milliseconds }
            digit = following
        }
    }

    /// 0 without an offset.
    mutating func offsetMinutes() -> Int64? {
        if next == nil || take("Z") || take("z") { return 0 }
        let sign: Int64 = take("+") ? 1 : -1
        guard sign == 1 || take("-"), let hours = number(digits: 2), hours < 24 else { return nil }
        if next == nil { return sign * hours * 60 }
        _ = take(":")
        guard let minutes = number(digits: 2), minutes < 60 else { return nil }
        return sign * (hours * 60 + minutes)
    }

    private mutating func digit() -> Int64? {
        guard let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        next = rest.next()
        return Int64(byte - UInt8(ascii: "0"))
    }
}
