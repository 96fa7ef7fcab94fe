import Geodesy
import JSON
package import Whereabouts

/// Reads the output of gpsd for a client that watches it: lines of JSON, of which the `TPV` reports are fixes.
///
///     {"class":"TPV","device":"/dev/ttyACM0","mode":3,"time":"2026-01-01T12:00:00.000Z","lat":46.5,"lon":9.25,
///      "altHAE":457.5,"altMSL":410.2,"epv":5.1,"eph":4.2,"track":277.0,"speed":1.5,"eps":0.3}
///
/// A fix has a mode of 2 or 3, a time and a place. gpsd may report one epoch in up to three pieces, which are merged by
/// their time. So a fix is complete when the next time comes, or at `flush()`. A value that gpsd does not send is
/// unknown, never 0. `magvar` is ignored, because gpsd's model of declination is old.
///
/// A receiver behind a pseudo-terminal is simulated by software (gpsfake); every other one is an accessory.
///
/// Source: gpsd_json(5) of gpsd 3.22.
package struct GPSDLines: Sendable {
    /// The command that makes gpsd report.
    package static let watch = Array("?WATCH={\"enable\":true,\"json\":true};\n".utf8)
    /// gpsd's own bound is 10,240 bytes (`GPS_JSON_RESPONSE_MAX`); a longer line is skipped.
    package static let lineBytes = 64 << 10

    private var partial: [UInt8] = []
    private var isTooLong = false
    private var pending: Fix?

    /// A reader at the beginning of the output.
    package init() {}

    /// Takes the next bytes and returns the fixes that are complete with them.
    package mutating func feed(_ bytes: some Sequence<UInt8>) -> [Fix] {
        var fixes: [Fix] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if !isTooLong, let complete = take(partial) { fixes.append(complete) }
                (partial, isTooLong) = ([], false)
            } else if partial.count < Self.lineBytes {
                partial.append(byte)
            } else {
                isTooLong = true
            }
        }
        return fixes
    }

    /// The fix that may still get more of its epoch; call it when no more bytes come.
    package mutating func flush() -> Fix? {
        defer { pending = nil }
        return pending
    }

    private mutating func take(_ line: [UInt8]) -> Fix? {
        guard let report = try? JSONDocument.parse(line).root, report["class"]?.string == "TPV",
            let fix = Self.fix(report)
        else { return nil }
        guard let old = pending else {
            pending = fix
            return nil
        }
        guard old.timestamp == fix.timestamp else {
            pending = fix
            return old
        }
        pending = Self.merged(old, fix)
        return nil
    }

    private static func fix(_ report: JSONValue) -> Fix? {
        guard let mode = report["mode"]?.int, mode >= 2,
            let time = report["time"]?.dateTime,
            let latitude = report["lat"]?.double, let longitude = report["lon"]?.double,
            let coordinate = try? Coordinate(latitude: latitude, longitude: longitude)
        else { return nil }
        func known(_ name: String) -> Double? { report[name]?.double.flatMap(Sentinel.known) }
        var fix = Fix(timestamp: time, coordinate: coordinate)
        let (east, north) = (known("epx"), known("epy"))
        fix.horizontalAccuracy =
            known("eph")
            ?? east.flatMap { east in north.flatMap { Sentinel.known((east * east + $0 * $0).squareRoot()) } }
        if mode >= 3 {
            fix.altitude = known("altMSL")
            fix.ellipsoidalAltitude = known("altHAE")
            fix.verticalAccuracy = known("epv")
        }
        fix.course = known("track").flatMap(Sentinel.course)
        fix.courseAccuracy = known("epd").flatMap(Sentinel.nonNegative)
        fix.speed = known("speed").flatMap(Sentinel.nonNegative)
        fix.speedAccuracy = known("eps").flatMap(Sentinel.nonNegative)
        let isPlayed = report["device"]?.string?.hasPrefix("/dev/pts/") ?? false
        (fix.isSimulatedBySoftware, fix.isProducedByAccessory) = (isPlayed, !isPlayed)
        return fix
    }

    /// The later piece of an epoch, with the values that only the earlier one has.
    private static func merged(_ old: Fix, _ new: Fix) -> Fix {
        var fix = new
        fix.horizontalAccuracy = new.horizontalAccuracy ?? old.horizontalAccuracy
        fix.altitude = new.altitude ?? old.altitude
        fix.ellipsoidalAltitude = new.ellipsoidalAltitude ?? old.ellipsoidalAltitude
        fix.verticalAccuracy = new.verticalAccuracy ?? old.verticalAccuracy
        fix.course = new.course ?? old.course
        fix.courseAccuracy = new.courseAccuracy ?? old.courseAccuracy
        fix.speed = new.speed ?? old.speed
        fix.speedAccuracy = new.speedAccuracy ?? old.speedAccuracy
        return fix
    }
}
