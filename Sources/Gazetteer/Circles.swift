import Geodesy

// Circles, version 3 of the format: names, each with a point or a line and a radius around it. Little-endian, mapped
// into memory and never parsed; written by scripts/gazetteer/gazetteer_circles.py, which specifies the same bytes.
// Sections follow one another in this order, each beginning at a multiple of 64; their places follow from the counts in
// the header.
//
//   header   64 bytes   magic "CIRCLE\r\n" | version u32 | circles u32 | file bytes u64 | string bytes u32 |
//                       attribution u32 (string) | greatest reach from a center u32 (m) | 28 zero bytes
//   circles  52 each    geocentric x, y, z i32 (1/8 m) of the center | radius u32 (m) | latitude i32, longitude i32
//                       (1e-7 degrees) | name u32 (string) | code u32 (string) | population u32, 0 where unknown |
//                       geonameid u32, 0 where there is none | half x, y, z i32 (1/8 m): from the center of a line to one
//                       of its ends, 0 for a circle. A coordinate within the radius of the line is in the area.
//   bands    2 each     4,096 of them, each 3,125 m of z from -6,400,000 m on: the first circle that lies in it or above
//   strings  bytes      length u16, then that many bytes of UTF-8; the empty one is at 0 and means "absent"
//
// Circles are in the order of rising z, so that those around a point lie between two places in the file; a code begins
// with the two letters of the country, where there is one.

/// Named circles of the earth: which of them a coordinate is in.
///
/// No read leaves the file, whatever its bytes say. Safe on every thread.
final class Circles: Sendable {
    private static let version: UInt32 = 3
    private static let unitsPerMeter = 8
    /// A center is off by half a unit on each axis at most, 0.87 units in all.
    private static let roundingUnits = 2.0
    private static let unitsPerDegree = 1e7
    private static let bandCount = 4096
    private static let bandMeters = 3125.0
    private static let leastMeters = -6_400_000.0

    private let mapping: MappedFile
    private let circles: Section
    private let bands: Section
    private let strings: StringSection
    private let greatestRadius: Int
    private let attributionOffset: UInt32

    /// - Throws: ``GazetteerError`` if the file cannot be read or is not one of circles, of this version and of the
    ///   length its header says. A file damaged further in gives wrong answers but no crash.
    init(path: String) throws(GazetteerError) {
        let file = try MappedFile(path: path)
        var layout = try FileLayout(file, path: path, magic: "CIRCLE\r\n", version: Self.version)
        circles = layout.section(count: layout.count(at: 12), stride: 52)
        bands = layout.section(count: Self.bandCount, stride: 2)
        strings = StringSection(layout.section(count: layout.count(at: 24), stride: 1))
        attributionOffset = layout.uint32(at: 28)
        greatestRadius = layout.count(at: 32)
        try layout.finish()
        mapping = file
    }

    /// The attribution and licence of the data, to be shown wherever its names are shown.
    var attribution: String { withExtendedLifetime(self) { strings[attributionOffset] ?? "" } }

    /// The numbers of the circles that hold a coordinate, in no order worth relying on.
    ///
    /// The chord excludes circles that cannot contain the coordinate, since no geodesic is shorter than its chord; the
    /// geodesic decides about the rest.
    ///
    /// - Parameter point: The coordinate's, by PROJ.
    func holding(_ coordinate: Coordinate, at point: GeocentricPoint) -> [Int] {
        let scale = Double(Self.unitsPerMeter)
        let (x, y, z) = (point.x * scale, point.y * scale, point.z * scale)
        let reach = Double(greatestRadius) * scale + Self.roundingUnits
        var found: [Int] = []
        var index = firstIndex(near: z - reach)
        while index < circles.count {
            // Within the section, because the index is below its count.
            let circle = circles.start + index * circles.stride
            func offset(_ value: Double, at begin: Int) -> Double {
                Double(Int32(littleEndian: circle.loadUnaligned(fromByteOffset: begin, as: Int32.self))) - value
            }
            let dz = offset(z, at: 8)
            if dz > reach { break }
            let (dx, dy) = (offset(x, at: 0), offset(y, at: 4))
            let square = dx * dx + dy * dy + dz * dz
            if square <= reach * reach {
                let radius = Double(circles.uint32(index, at: 12))
                if isLine(index) {
                    if isNear(index, radiusMeters: radius, dx, dy, dz) { found.append(index) }
                } else if holds(index, coordinate, radiusMeters: radius, chordMeters: square.squareRoot() / scale) {
                    found.append(index)
                }
            }
            index += 1
        }
        return found
    }

    func name(_ index: Int) -> String? { withExtendedLifetime(self) { strings[circles.uint32(index, at: 24)] } }

    /// The two letters of the country and the rest of the code.
    func code(_ index: Int) -> String? { withExtendedLifetime(self) { strings[circles.uint32(index, at: 28)] } }

    func population(_ index: Int) -> Int { Int(circles.uint32(index, at: 32)) }

    /// The middle of a circle; nil only if the file is damaged.
    func coordinate(_ index: Int) -> Coordinate? {
        withExtendedLifetime(self) {
            try? Coordinate(
                latitude: Double(circles.int32(index, at: 16)) / Self.unitsPerDegree,
                longitude: Double(circles.int32(index, at: 20)) / Self.unitsPerDegree)
        }
    }

    /// The chord to the rounded center decides where it can.
    private func holds(
        _ index: Int, _ coordinate: Coordinate, radiusMeters: Double, chordMeters: Double
    ) -> Bool {
        let rounding = Self.roundingUnits / Double(Self.unitsPerMeter)
        // No geodesic is shorter than its chord.
        if chordMeters - rounding > radiusMeters { return false }
        let longest = Geodesic.distanceBoundsMeters(chordMeters: chordMeters + rounding).upperBound
        if longest <= radiusMeters { return true }
        guard let center = self.coordinate(index) else { return false }
        return Geodesic.distanceMeters(from: center, to: coordinate) <= radiusMeters
    }

    private func isLine(_ index: Int) -> Bool {
        (circles.uint32(index, at: 40) | circles.uint32(index, at: 44) | circles.uint32(index, at: 48)) != 0
    }

    /// Whether a point is within the radius of a line. `dx`, `dy` and `dz` are the line's center minus the point, in
    /// units.
    ///
    /// Distances are chords: over a few kilometers, a chord is less than 1 mm shorter than the geodesic.
    private func isNear(_ index: Int, radiusMeters: Double, _ dx: Double, _ dy: Double, _ dz: Double) -> Bool {
        let (hx, hy, hz) = (
            Double(circles.int32(index, at: 40)), Double(circles.int32(index, at: 44)),
            Double(circles.int32(index, at: 48))
        )
        let along = min(max(-(dx * hx + dy * hy + dz * hz) / (hx * hx + hy * hy + hz * hz), -1), 1)
        let (x, y, z) = (dx + along * hx, dy + along * hy, dz + along * hz)
        let radius = radiusMeters * Double(Self.unitsPerMeter)
        return x * x + y * y + z * z <= radius * radius
    }

    /// The GeoNames number of a circle around a place, or nil for other circles.
    func geonameID(_ index: Int) -> Int? {
        let geonameID = circles.uint32(index, at: 36)
        return geonameID == 0 ? nil : Int(geonameID)
    }

    /// A circle with none at or above a height before it, which is in units.
    private func firstIndex(near height: Double) -> Int {
        let band = Int((height / Double(Self.unitsPerMeter) - Self.leastMeters) / Self.bandMeters)
        return Int(bands.uint16(min(max(band, 0), Self.bandCount - 1), at: 0))
    }
}
