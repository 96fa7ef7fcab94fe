package import Answers
import HTTPServer
package import Tables
package import Whereabouts

/// The `next` of a page: the read that the next page continues, and the key of the last row. It is sealed for the
/// caller (`References`), because keys are coordinates and times, which must not appear in URLs.
///
/// The sealed bytes are `kind (1) ‖ read (16, zeros for none) ‖ key (8 to 32)`, numbers big-endian.
package struct Cursor {
    /// The request that began the read.
    package let read: RequestID?
    private let kind: Kind
    private let words: [UInt64]

    private enum Kind: UInt8 {
        case fix = 1
        case time = 2
        case crossing = 3
        case envelope = 4
    }

    /// The cursor in `after`; `nil` without one.
    package init?(_ exchange: Exchange, _ decisions: Decisions) throws(Problem) {
        guard let text = exchange.request.parameter("after") else { return nil }
        // Lists of settings and of the audit have other cursors, which name no read.
        let references = decisions.references(for: exchange.caller)
        if references.isPlain ? Int64(text) != nil : references.rowOrAct(text) != nil { return nil }
        guard let plain = references.openCursor(text), let kind = plain.first.flatMap(Kind.init(rawValue:)) else {
            throw Self.unreadable
        }
        self.kind = kind
        read = plain[1..<17].contains { $0 != 0 } ? plain[1..<17].withUnsafeBytes { RequestID(bytes: $0) } : nil
        words = stride(from: 17, to: References.cursorBytes, by: 8).map { start in
            plain[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// The problem of a cursor that this service did not give, or gave to another caller.
    package static let unreadable = Problem.refused("\"after\" must be the \"next\" of the page before.")

    private static func text(_ kind: Kind, _ words: [UInt64], _ reading: Gate.Reading) -> String {
        var bytes = [kind.rawValue] + (reading.cursorName?.bytes ?? [UInt8](repeating: 0, count: 16))
        for word in words { withUnsafeBytes(of: word.bigEndian) { bytes += $0 } }
        return reading.references.cursor(bytes)
    }

    /// The cursor after a fix.
    package static func text(_ key: TimelineReader.FixKey, _ reading: Gate.Reading) -> String {
        text(
            .fix,
            [
                UInt64(bitPattern: key.timestamp.milliseconds), UInt64(bitPattern: key.device.rawValue),
                key.latitude.bitPattern, key.longitude.bitPattern,
            ], reading)
    }

    /// The cursor after a row that begins at a time.
    package static func text(_ time: Timestamp, _ reading: Gate.Reading) -> String {
        text(.time, [UInt64(bitPattern: time.milliseconds)], reading)
    }

    /// The cursor after a crossing.
    package static func text(_ crossing: Crossing, _ reading: Gate.Reading) -> String {
        text(
            .crossing,
            [
                UInt64(bitPattern: crossing.time.milliseconds), UInt64(bitPattern: crossing.region.rawValue),
                UInt64(bitPattern: crossing.kind.rawValue),
            ], reading)
    }

    /// The cursor after an envelope.
    package static func text(_ key: EnvelopeReader.Key, _ reading: Gate.Reading) -> String {
        text(
            .envelope,
            [
                UInt64(bitPattern: key.bucket), UInt64(bitPattern: key.device), key.identity.high, key.identity.low,
            ], reading)
    }

    /// The envelope before the page.
    package func envelope() throws(Problem) -> EnvelopeReader.Key {
        guard kind == .envelope else { throw Self.unreadable }
        return EnvelopeReader.Key(
            bucket: Int64(bitPattern: words[0]), device: Int64(bitPattern: words[1]),
            identity: Identifier128(high: words[2], low: words[3]))
    }

    /// The fix before the page.
    ///
    /// - Throws: 400 for the cursor of another kind of list.
    package func fix() throws(Problem) -> TimelineReader.FixKey {
        guard kind == .fix else { throw Self.unreadable }
        return TimelineReader.FixKey(
            timestamp: Timestamp(milliseconds: Int64(bitPattern: words[0])),
            device: DeviceID(rawValue: Int64(bitPattern: words[1])), latitude: Double(bitPattern: words[2]),
            longitude: Double(bitPattern: words[3]))
    }

    /// The arrival of the row before the page.
    package func arrival() throws(Problem) -> Timestamp {
        guard kind == .time else { throw Self.unreadable }
        return Timestamp(milliseconds: Int64(bitPattern: words[0]))
    }

    /// The crossing before the page. The cursor has only its time, which stands for all three.
    package func crossing() throws(Problem) -> Crossing {
        guard kind == .crossing, let kind = Crossing.Kind(rawValue: Int64(bitPattern: words[2])) else {
            throw Self.unreadable
        }
        let time = Timestamp(milliseconds: Int64(bitPattern: words[0]))
        return Crossing(
            region: RegionID(rawValue: Int64(bitPattern: words[1])), kind: kind, time: time, confirmed: time,
            reported: time)
    }
}
