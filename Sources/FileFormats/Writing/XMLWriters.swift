import Geodesy
import Whereabouts
import WireFormats

/// GPX 1.1 (topografix.com/GPX/1/1):
///
///     <trkpt lat="48.2083" lon="16.373"><ele>171</ele><time>2026-01-01T08:00:00.000Z</time>
///       <extensions><w:hAcc>5</w:hAcc><w:speed>1.4</w:speed></extensions></trkpt>
///
/// The extensions have the local names of Apple's workout routes. Their namespace is ours, because the schema allows no
/// extensions in its own.
struct GPXWriter: FixWriting {
    private static let namespace = "urn:whereabouts:gpx"
    private var cut = SegmentCut()
    private var isOpen = false

    mutating func begin(name: String, into bytes: inout [UInt8]) {
        bytes.append(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <gpx version="1.1" creator="Whereabouts" xmlns="http://www.topografix.com/GPX/1/1" xmlns:w="\(Self.namespace)">
            <trk><name>\(FileText.xml(name))</name>

            """)
    }

    mutating func add(_ fix: Fix, device: String?, into bytes: inout [UInt8]) {
        if cut.begins(with: fix) {
            bytes.append(isOpen ? "</trkseg>\n<trkseg>\n" : "<trkseg>\n")
            isOpen = true
        }
        let (latitude, longitude) = (fix.coordinate.latitude, fix.coordinate.longitude)
        bytes.append("<trkpt lat=\"\(FileText.decimal(latitude))\" lon=\"\(FileText.decimal(longitude))\">")
        if let altitude = fix.altitude { bytes.append("<ele>\(FileText.decimal(altitude))</ele>") }
        bytes.append("<time>\(ISO8601.text(of: fix.timestamp))</time>")
        let extensions = [
            ("hAcc", fix.horizontalAccuracy), ("vAcc", fix.verticalAccuracy), ("speed", fix.speed),
            ("course", fix.course), ("floor", fix.floor.map(Double.init)),
        ].compactMap { name, number in number.map { "<w:\(name)>\(FileText.decimal($0))</w:\(name)>" } }
        if !extensions.isEmpty { bytes.append("<extensions>\(extensions.joined())</extensions>") }
        bytes.append("</trkpt>\n")
    }

    mutating func finish(into bytes: inout [UInt8]) { bytes.append((isOpen ? "</trkseg>\n" : "") + "</trk>\n</gpx>\n") }
}

/// KML 2.2 with Google's extension for tracks, which maps and globes draw:
///
///     <gx:Track><when>2026-01-01T08:00:00.000Z</when>…<gx:coord>16.373 48.2083 171</gx:coord>…
///       <ExtendedData><SchemaData schemaUrl="#fix"><gx:SimpleArrayData name="accuracy"><gx:value>5</gx:value>…
///
/// A track has all times before all coordinates, so its fixes are kept until it ends, at most a thousand.
struct KMLWriter: FixWriting {
    private static let fixesMax = 1000
    private static let arrays: [(name: String, title: String, value: @Sendable (Fix) -> Double?)] = [
        ("accuracy", "Accuracy in meters", { $0.horizontalAccuracy }),
        ("speed", "Speed in meters per second", { $0.speed }), ("course", "Course in degrees", { $0.course }),
    ]
    private var cut = SegmentCut()
    private var fixes: [Fix] = []

    mutating func begin(name: String, into bytes: inout [UInt8]) {
        let fields = Self.arrays.map {
            "<gx:SimpleArrayField name=\"\($0.name)\" type=\"float\"><displayName>\($0.title)</displayName></gx:SimpleArrayField>"
        }
        bytes.append(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
            <Document><name>\(FileText.xml(name))</name>
            <Schema id="fix">\(fields.joined())</Schema>

            """)
    }

    mutating func add(_ fix: Fix, device: String?, into bytes: inout [UInt8]) {
        if cut.begins(with: fix) || fixes.count == Self.fixesMax { endTrack(into: &bytes) }
        fixes.append(fix)
    }

    mutating func finish(into bytes: inout [UInt8]) {
        endTrack(into: &bytes)
        bytes.append("</Document>\n</kml>\n")
    }

    private mutating func endTrack(into bytes: inout [UInt8]) {
        guard !fixes.isEmpty else { return }
        bytes.append("<Placemark><gx:Track><altitudeMode>clampToGround</altitudeMode>\n")
        for fix in fixes { bytes.append("<when>\(ISO8601.text(of: fix.timestamp))</when>\n") }
        for fix in fixes {
            let numbers = [fix.coordinate.longitude, fix.coordinate.latitude] + (fix.altitude.map { [$0] } ?? [])
            bytes.append("<gx:coord>\(numbers.map(FileText.decimal).joined(separator: " "))</gx:coord>\n")
        }
        bytes.append("<ExtendedData><SchemaData schemaUrl=\"#fix\">\n")
        for array in Self.arrays where fixes.contains(where: { array.value($0) != nil }) {
            bytes.append("<gx:SimpleArrayData name=\"\(array.name)\">")
            for fix in fixes {
                bytes.append(array.value(fix).map { "<gx:value>\(FileText.decimal($0))</gx:value>" } ?? "<gx:value/>")
            }
            bytes.append("</gx:SimpleArrayData>\n")
        }
        bytes.append("</SchemaData></ExtendedData></gx:Track></Placemark>\n")
        fixes.removeAll(keepingCapacity: true)
    }
}
