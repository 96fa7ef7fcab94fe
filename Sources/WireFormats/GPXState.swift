import CExpat
import Whereabouts

/// The state of a ``GPXReader`` in its file; expat's callbacks change it.
final class GPXState {
    /// The longest text of one value in bytes; no value of a point needs more.
    static let valueBytes = 256

    var counts = GPXCounts()
    var points: [GPXPoint] = []
    /// Why the parser was stopped.
    private(set) var fault: GPXError?

    private let parser: XML_Parser
    private var depth = 0
    private var beginsSegment = true

    private var point: GPXPoint?
    private var pointDepth = 0

    /// The values of a point that are read.
    private enum Field: Int, CaseIterable {
        case time, ele, speed, course, floor
        /// Apple Health writes `hAcc` and `vAcc`, this project's simulator `hacc` and `vacc`.
        case hacc, vacc
        /// GPSLogger's horizontal accuracy in meters.
        case accuracy
        /// The elements from which a missing accuracy is estimated: dilution, satellites used, and source.
        case hdop, sat, src

        /// By local name in lower case. A dictionary, because a switch over strings compares with one after the other.
        static let named = Dictionary(uniqueKeysWithValues: allCases.map { ("\($0)", $0) })

        /// The field as one bit of a mask.
        var bit: Int { 1 << rawValue }
    }

    private var field: Field?
    private var fieldDepth = 0
    private var text: [UInt8] = []
    private var isTextTooLong = false
    /// The bits of the fields in the point itself, as in GPX 1.0. Extensions do not override them.
    private var direct = 0

    init(parser: XML_Parser) {
        self.parser = parser
    }

    static func of(_ userData: UnsafeMutableRawPointer?) -> GPXState {
        guard let userData else { preconditionFailure("Expat hands back the user data it was given.") }
        return Unmanaged<GPXState>.fromOpaque(userData).takeUnretainedValue()
    }

    var line: Int { Int(XML_GetCurrentLineNumber(parser)) }

    /// Ends parsing. Expat may still finish its present tag, so later callbacks do nothing.
    func stop(_ fault: GPXError) {
        guard self.fault == nil else { return }
        self.fault = fault
        XML_StopParser(parser, XML_Bool(0))
    }

    func beginElement(
        _ qualifiedName: UnsafePointer<CChar>?, attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        guard fault == nil, let qualifiedName else { return }
        depth += 1
        if depth > GPXReader.depthMax { return stop(.tooDeep(line: line)) }
        let name = localName(qualifiedName)
        if depth == 1 {
            if name != "gpx" { stop(.notGPX(line: line)) }
        } else if point != nil {
            beginValue(name)
        } else {
            switch name {
            case "trk": counts.tracks += 1
            case "trkseg":
                counts.segments += 1
                beginsSegment = true
            case "trkpt": beginPoint(attributes)
            case "wpt": counts.waypoints += 1
            case "rte": counts.routes += 1
            case "rtept": counts.routePoints += 1
            default: break
            }
        }
    }

    func endElement() {
        guard fault == nil else { return }
        if field != nil && depth == fieldDepth { endValue() }
        if point != nil && depth == pointDepth { endPoint() }
        depth -= 1
    }

    func append(_ characters: UnsafePointer<CChar>?, count: Int) {
        guard fault == nil, field != nil, depth == fieldDepth, !isTextTooLong, let characters else { return }
        if text.count + count > Self.valueBytes {
            isTextTooLong = true
        } else {
            text.append(contentsOf: UnsafeRawBufferPointer(start: characters, count: count))
        }
    }

    private func beginPoint(_ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
        var latitude = Double.nan
        var longitude = Double.nan
        var next = attributes
        // Names and values alternate; a null pointer ends them.
        while let pair = next, let name = pair[0], let value = pair[1] {
            switch localName(name) {
            case "lat": latitude = Self.number(value) ?? .nan
            case "lon": longitude = Self.number(value) ?? .nan
            default: break
            }
            next = pair + 2
        }
        point = GPXPoint(line: line, beginsSegment: beginsSegment, latitude: latitude, longitude: longitude)
        pointDepth = depth
        beginsSegment = false
        direct = 0
    }

    private static func number(_ text: UnsafePointer<CChar>) -> Double? {
        var end = text
        while end.pointee != 0 { end += 1 }
        return DecimalText.parse(UnsafeRawBufferPointer(start: text, count: end - text))
    }

    private func endPoint() {
        guard let point else { return }
        counts.trackPoints += 1
        if point.time == .missing { counts.untimed += 1 }
        points.append(point)
        self.point = nil
    }

    private func beginValue(_ name: String) {
        // No value has elements inside, so these are ignored.
        guard field == nil, let field = Field.named[name] ?? Field.named[name.lowercased()] else { return }
        let isDirect = depth == pointDepth + 1
        switch field {
        // Extensions also have times and heights of other things.
        case .time, .ele: if !isDirect { return }
        default: if direct & field.bit != 0 { return }
        }
        if isDirect { direct |= field.bit }
        self.field = field
        fieldDepth = depth
        text.removeAll(keepingCapacity: true)
        isTextTooLong = false
    }

    private func endValue() {
        guard let field, var point else { return }
        self.field = nil
        let number = isTextTooLong ? nil : DecimalText.parse(text)
        switch field {
        case .time: point.time = time()
        case .ele: point.altitude = number
        case .speed: point.speed = number.flatMap(Sentinel.nonNegative)
        case .course: point.course = number.flatMap(Sentinel.course)
        case .floor: point.floor = number.flatMap(Int64.init(exactly:))
        case .hacc, .accuracy: point.horizontalAccuracy = number ?? point.horizontalAccuracy
        case .vacc: point.verticalAccuracy = number
        case .hdop: point.quality.horizontalDilution = number.flatMap(Sentinel.nonNegative)
        case .sat: point.quality.satellites = number.flatMap(Sentinel.nonNegative)
        case .src: if !isTextTooLong { point.quality.source = String(decoding: text, as: UTF8.self).lowercased() }
        }
        self.point = point
    }

    private func time() -> ReportedTime {
        if isTextTooLong { return .unreadable }
        let start = text.drop(while: DecimalText.isWhiteSpace)
        guard let last = start.lastIndex(where: { !DecimalText.isWhiteSpace($0) }) else { return .missing }
        return ISO8601.parse(utf8: start[...last]).map(ReportedTime.at) ?? .unreadable
    }

    private func localName(_ name: UnsafePointer<CChar>) -> String {
        var start = name
        var next = name
        while next.pointee != 0 {
            if next.pointee == CChar(UInt8(ascii: ":")) { start = next + 1 }
            next += 1
        }
        return String(cString: start)
    }
}
