import JSON
import WireFormats

/// Detects the format of a JSON file by the keys at its beginning.
enum JSONKind {
    /// The text after white space and a byte order mark.
    static func text(_ prefix: [UInt8]) -> ArraySlice<UInt8> {
        prefix.dropFirst(prefix.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0).drop(while: DecimalText.isWhiteSpace)
    }

    static func detect(_ text: ArraySlice<UInt8>) throws(FormatFault) -> FileFormat {
        // JSON lines: the first line is a whole object.
        let line = text.prefix { $0 != UInt8(ascii: "\n") }
        if line.first == UInt8(ascii: "{"), let root = try? JSONDocument.parse(Array(line)).root {
            if ArchiveLines.isOne(root) { return .whereabouts }
            if root["latitude"] != nil, root["timestamp"] != nil { return .fixes }
            if root["lonlat"] != nil, root["timestamp"] != nil { return .dawarich }
            if root["started_at"] != nil, root["place_reference"] != nil { return .dawarich }
        }
        let keys = JSONKeys(text)
        func has(_ names: String...) -> Bool { names.allSatisfy(keys.paths.contains) }
        if keys.isArray {
            if has("[].startTime"), has("[].timelinePath") || has("[].visit") || has("[].activity") {
                return .googleTimelineIPhone
            }
            if has("[].startTime"), has("[].timelineMemory") { return .googleTimelineIPhone }
            if has("[]._type") { return .ownTracks }
            if has("[].date", "[].segments") { return .moves }
            if has("[].start_time", "[].latitude", "[].longitude") { return .samsungHealth }
            throw .otherJSON
        }
        if has("_type") { return .ownTracks }
        if has("semanticSegments") || has("rawSignals") { return .googleTimeline }
        if has("timelineObjects") { return .googleSemantic }
        if has("timelineEdits") { return .googleEdits }
        if has("deviceSettings") {
            throw .refused(
                "Google's Settings.json, which has no history",
                wayOut: "import Records.json, the files of Semantic Location History, or Timeline.json")
        }
        if has("locations") {
            if has("locations[].latitudeE7") || has("locations[].timestampMs") || has("locations[].longitudeE7") {
                return .googleRecords
            }
            if has("locations[].geometry") || has("locations[].properties") { return .overland }
            if has("locations[].lat"), has("locations[].time") { return .polarsteps }
        }
        if has("timelineItems") { return .arc }
        if has("samples[].location") || has("samples[].timelineItemId") { return .arc }
        // Only GeoPulse's debug export has this member, and then it is true.
        if has("coordinate_shift_applied") { throw .shiftedOnPurpose }
        switch keys.values["dataType"]?.lowercased() {
        case "rawgps" where has("points"), "timeline" where has("stays"): return .geoPulse
        default: break
        }
        if has("data[]._type") || has("data[].tst") { return .ownTracks }
        if has("features") || has("geometry") || has("coordinates") { return .geoJSON }
        if keys.values["type"] == "FeatureCollection" || keys.values["type"] == "Feature" { return .geoJSON }
        // Empty exports.
        if has("locations") { return .googleRecords }
        throw .otherJSON
    }
}

/// The keys at the beginning of a JSON text that may be cut off, to a depth of three.
struct JSONKeys {
    /// Paths such as `locations[].latitudeE7`.
    private(set) var paths: Set<String> = []
    /// The outermost members that are short texts.
    private(set) var values: [String: String] = [:]
    private(set) var isArray = false

    private static let depthMax = 4
    private static let pathsMax = 4096

    init(_ text: ArraySlice<UInt8>) {
        isArray = text.first == UInt8(ascii: "[")
        // Paths of the open containers; `nil` beyond the depth.
        var open: [(path: String?, isObject: Bool)] = []
        var key: String?
        var awaitsKey = false
        var index = text.startIndex
        while index < text.endIndex, paths.count < Self.pathsMax {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "\""):
                guard let end = Self.endOfString(text, index) else { return }
                if awaitsKey {
                    key = String(decoding: text[(index + 1)..<end].prefix(64), as: UTF8.self)
                    if let key, let path = open.last?.path { paths.insert(path.isEmpty ? key : "\(path).\(key)") }
                } else if open.count == 1, let key, end - index < 64 {
                    values[key] = String(decoding: text[(index + 1)..<end], as: UTF8.self)
                }
                awaitsKey = false
                index = end
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let isObject = byte == UInt8(ascii: "{")
                var path: String? = open.isEmpty ? "" : nil
                if let outer = open.last, open.count < Self.depthMax, let base = outer.path {
                    path = outer.isObject ? (base.isEmpty ? key ?? "" : "\(base).\(key ?? "")") : base
                }
                if !isObject { path = path.map { $0 + "[]" } }
                open.append((path, isObject))
                awaitsKey = isObject
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                awaitsKey = false
            case UInt8(ascii: ","): awaitsKey = open.last?.isObject ?? false
            default: break
            }
            index += 1
        }
    }

    private static func endOfString(_ text: ArraySlice<UInt8>, _ start: Int) -> Int? {
        var index = start + 1
        while index < text.endIndex {
            switch text[index] {
            case UInt8(ascii: "\\"): index += 2
            case UInt8(ascii: "\""): return index
            default: index += 1
            }
        }
        return nil
    }
}
