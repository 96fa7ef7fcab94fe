import CPROJ

/// A coordinate reference system of the EPSG register, and the way between it and WGS 84, by PROJ.
///
/// **Axis order.** `x` comes first and is the easting or longitude, `y` the northing or latitude, whatever order the
/// register gives (`proj_normalize_for_visualization`; pyproj calls it `always_xy`). That is how GeoJSON, shapefiles,
/// CSV exports and PostGIS write numbers. The register's order differs for some systems: EPSG:4326 is latitude first,
/// EPSG:2193 northing first; a file that follows it (GML, WFS 1.1 and later) must be read crosswise. ``axisNames`` says
/// what x and y are. On the polar systems (EPSG:3413, 3031) both axes point along meridians; there x and y are the
/// register's first and second.
///
/// **Accuracy.** Of the transformations the register knows, PROJ takes the most accurate one for the place that needs no
/// grid file beyond those installed, and never a "ballpark" one that ignores the difference of datums; without national
/// grids a transformation by parameters is off by a few meters (EPSG:27700: 2 m). There and back is the same place within
/// 2 mm, except where regions with transformations of their own meet (Krovak, EPSG:5514, at the border of Czechia and
/// Slovakia: 15 m). The network is never used.
///
/// One per thread: it owns its PROJ context. Creating one reads `proj.db` and takes a few milliseconds: not for Swift's
/// shared thread pool. The tests compare sixteen systems with pyproj, within 1 mm.
package final class CoordinateReferenceSystem {
    /// As given: `EPSG:` and a number.
    package let code: String
    /// The register's name, such as "CH1903+ / LV95".
    package let name: String
    /// The register's names of x and y, such as "Easting" and "Northing".
    package let axisNames: (x: String, y: String)
    /// Where the register says the system may be used.
    package let areaOfUse: BoundingBox

    private let toWGS84: ProjOperation

    /// No system needs greater numbers: half the equator is 2·10⁷ m, a zone number in front of the easting (EPSG:2581:
    /// zone 64) makes 6.5·10⁷, and feet 6.6·10⁷.
    private static let largestNumber = 1e8

    /// Looks the system up.
    ///
    /// - Parameter code: `EPSG:` and up to six digits, for a projected or geographic system.
    /// - Throws: ``GeodesyError/unknownReferenceSystem(code:)``, also for other kinds (vertical, geocentric, …);
    ///   ``GeodesyError/proj(doing:number:message:)`` if PROJ knows no way to WGS 84 that needs no missing grid.
    package init(code: String) throws(GeodesyError) {
        let number = code.utf8.dropFirst(5)
        guard code.hasPrefix("EPSG:"), (1...6).contains(number.count), number.allSatisfy({ (48...57).contains($0) })
        else { throw .unknownReferenceSystem(code: code) }

        var found: Description?
        toWGS84 = try ProjOperation(doing: "convert \(code) to WGS 84") { context throws(GeodesyError) in
            let digits = String(code.dropFirst(5))
            guard let system = proj_create_from_database(context, "EPSG", digits, PJ_CATEGORY_CRS, 0, nil) else {
                throw .unknownReferenceSystem(code: code)
            }
            defer { proj_destroy(system) }
            found = try Description(of: system, in: context, code: code)
            return Self.conversion(of: system, in: context)
        }
        guard let found else { preconditionFailure("A conversion was made of a system that was found.") }
        self.code = code
        name = found.name
        axisNames = found.axisNames
        areaOfUse = found.areaOfUse
    }

    /// The place of a pair of numbers in this system; see the type for their order. 0.1 to 0.6 µs.
    ///
    /// - Throws: ``GeodesyError/notFinite``; ``GeodesyError/outsideAreaOfUse(of:)`` if the place is not in
    ///   ``areaOfUse`` or the numbers are no place at all, as after swapping x and y.
    package func toWGS84(_ x: Double, _ y: Double) throws(GeodesyError) -> Coordinate {
        guard x.isFinite, y.isFinite else { throw .notFinite }
        // PROJ reduces any longitude by whole turns, however little is left of it after that.
        guard abs(x) <= Self.largestNumber, abs(y) <= Self.largestNumber else { throw .outsideAreaOfUse(of: name) }
        let result = try convert(x, y, PJ_FWD)
        guard abs(result.y) <= 90 + 1e-12, abs(result.x) <= 180 + 1e-12 else { throw .outsideAreaOfUse(of: name) }
        let coordinate = Coordinate(computedLatitude: result.y, longitude: result.x)
        guard areaOfUse.contains(coordinate) else { throw .outsideAreaOfUse(of: name) }
        return coordinate
    }

    /// The numbers of a place in this system; see the type for their order. 0.1 to 0.6 µs.
    ///
    /// - Throws: ``GeodesyError/outsideAreaOfUse(of:)`` if the place is not in ``areaOfUse``.
    package func fromWGS84(_ coordinate: Coordinate) throws(GeodesyError) -> (x: Double, y: Double) {
        guard areaOfUse.contains(coordinate) else { throw .outsideAreaOfUse(of: name) }
        return try convert(coordinate.longitude, coordinate.latitude, PJ_INV)
    }

    /// How far off the transformation used last may be, in meters, as the register says; `nil` when it does not say, or
    /// nothing was converted yet.
    ///
    /// Source: `proj_coordoperation_get_accuracy` of `proj_trans_get_last_used_operation`.
    package var accuracyMeters: Double? {
        guard let used = proj_trans_get_last_used_operation(toWGS84.operation) else { return nil }
        defer { proj_destroy(used) }
        let accuracy = proj_coordoperation_get_accuracy(toWGS84.context, used)
        return accuracy < 0 ? nil : accuracy
    }

    private func convert(
        _ x: Double, _ y: Double, _ way: PJ_DIRECTION
    ) throws(GeodesyError) -> (x: Double, y: Double) {
        let operation = toWGS84.operation
        proj_errno_reset(operation)
        let result = proj_trans(operation, way, proj_coord(x, y, 0, 0)).xy
        let number = proj_errno(operation)
        // All PROJ errors about single coordinates (PROJ_ERR_COORD_TRANSFM) say that this place cannot be converted.
        if number & PROJ_ERR_COORD_TRANSFM != 0 { throw .outsideAreaOfUse(of: name) }
        guard number == 0 else { throw .last(of: toWGS84.context, doing: "convert a coordinate of \(code)") }
        guard result.x.isFinite, result.y.isFinite else { throw .outsideAreaOfUse(of: name) }
        return (result.x, result.y)
    }

    private static func conversion(of system: OpaquePointer, in context: OpaquePointer) -> OpaquePointer? {
        let wgs84 = proj_create_from_database(context, "EPSG", "4326", PJ_CATEGORY_CRS, 0, nil)
        guard let wgs84 else { return nil }
        defer { proj_destroy(wgs84) }
        let made = "ALLOW_BALLPARK=NO".withCString { option in
            proj_create_crs_to_crs_from_pj(context, system, wgs84, nil, [option, nil])
        }
        guard let made else { return nil }
        defer { proj_destroy(made) }
        return proj_normalize_for_visualization(context, made)
    }
}

/// What the register says about a system, copied out of PROJ's objects.
private struct Description {
    let name: String
    let axisNames: (x: String, y: String)
    let areaOfUse: BoundingBox

    init(of system: OpaquePointer, in context: OpaquePointer, code: String) throws(GeodesyError) {
        let kinds = [PJ_TYPE_PROJECTED_CRS, PJ_TYPE_GEOGRAPHIC_2D_CRS, PJ_TYPE_GEOGRAPHIC_3D_CRS]
        guard kinds.contains(proj_get_type(system)) else { throw .unknownReferenceSystem(code: code) }
        let doing = "read the register's entry of \(code)"
        guard let normalized = proj_normalize_for_visualization(context, system) else {
            throw .last(of: context, doing: doing)
        }
        defer { proj_destroy(normalized) }
        guard let axes = proj_crs_get_coordinate_system(context, normalized) else {
            throw .last(of: context, doing: doing)
        }
        defer { proj_destroy(axes) }
        var names: [String] = []
        for index in 0..<2 as Range<Int32> {
            var name: UnsafePointer<CChar>?
            guard proj_cs_get_axis_info(context, axes, index, &name, nil, nil, nil, nil, nil, nil) != 0, let name else {
                throw .last(of: context, doing: doing)
            }
            names.append(String(cString: name))
        }
        var (west, south, east, north) = (0.0, 0.0, 0.0, 0.0)
        guard proj_get_area_of_use(context, system, &west, &south, &east, &north, nil) != 0,
            let southWest = try? Coordinate(latitude: south, longitude: west),
            let northEast = try? Coordinate(latitude: north, longitude: east),
            let area = try? BoundingBox(southWest: southWest, northEast: northEast)
        else { throw .last(of: context, doing: doing) }
        self.name = proj_get_name(system).map { String(cString: $0) } ?? code
        axisNames = (names[0], names[1])
        areaOfUse = area
    }
}
