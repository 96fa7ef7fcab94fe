import CPROJ
package import Geodesy

/// A coordinate reference system of the EPSG register, with the conversion between it and WGS 84, by PROJ.
///
/// **Axis order.** `x` comes first and is the easting or longitude, `y` the northing or latitude, whatever order the
/// register gives (`proj_normalize_for_visualization`; pyproj calls it `always_xy`). That is how GeoJSON, shapefiles,
/// CSV exports and PostGIS write numbers. The register's order differs for some systems: EPSG:4326 is latitude first,
/// EPSG:2193 northing first; a file that follows it (GML, WFS 1.1 and later) must be read crosswise. ``axisNames``
/// gives the meaning of x and y. On the polar systems (EPSG:3413, 3031) both axes point along meridians; there x and y
/// are the register's first and second.
///
/// **Choice of the operation.** The register often has several operations between a system and WGS 84, such as one for
/// Czechia and one for Slovakia (EPSG:5514). PROJ chooses for each place: among the operations whose area holds the
/// place, the one with the best accuracy that needs no grid file beyond the installed ones. `operation(at:)` names
/// it. The choice is that of `proj_create_crs_to_crs`, with one exception: an operation that ignores the difference of
/// datums ("ballpark") is never used. Where PROJ alone would use one, outside all areas (EPSG:3003 in France), an
/// operation of the system's datum is used, and its accuracy there is unknown. Other installations of PROJ can choose
/// differently, because they have other grids or another edition of the register: with the grid BETA2007 of Debian's
/// `proj-data` EPSG:31467 is good to 1 m, and without it to 3 m. There and back is the same place within 2 mm, except
/// where areas of operations meet (EPSG:5514 at the border of Czechia and Slovakia: 15 m). PROJ never uses the network
/// here.
///
/// One per thread: it owns its PROJ context. Creating one reads `proj.db` and takes a few milliseconds: not for Swift's
/// shared thread pool. The tests compare sixteen systems with pyproj, within 1 mm.
package final class CoordinateReferenceSystem {
    /// The code as given: `EPSG:` and a number.
    package let code: String
    /// The register's name, such as "CH1903+ / LV95".
    package let name: String
    /// The register's names of x and y, such as "Easting" and "Northing".
    package let axisNames: (x: String, y: String)
    /// The area in which the register allows the system.
    package let areaOfUse: BoundingBox

    private let toWGS84: ProjOperation
    /// The candidates in PROJ's order; the same that ``toWGS84`` chooses from.
    private let candidates: OperationList

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
            return Self.conversion(from: system, in: context)
        }
        guard let found else { preconditionFailure("A conversion was made of a system that was found.") }
        candidates = try OperationList(code: code, in: toWGS84.context)
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

    /// The operation that ``fromWGS84(_:)`` uses at a place. 0 µs for a system with one operation, else about 10 µs.
    ///
    /// Its accuracy is `nil` if the place is outside the areas of all operations; see the type.
    ///
    /// - Throws: as ``fromWGS84(_:)``.
    package func operation(at coordinate: Coordinate) throws(GeodesyError) -> Operation {
        if let chosen = candidates.operation(at: coordinate, in: toWGS84.context) { return chosen }
        _ = try fromWGS84(coordinate)
        guard let name = lastUsedOperation else {
            throw .last(of: toWGS84.context, doing: "name the operation between \(code) and WGS 84")
        }
        return Operation(name: name, accuracyMeters: nil)
    }

    /// The name of the operation that converted last; `nil` before the first conversion. About 40 µs: PROJ copies it.
    package var lastUsedOperation: String? {
        guard let used = proj_trans_get_last_used_operation(toWGS84.operation) else { return nil }
        defer { proj_destroy(used) }
        return Operation.name(of: used)
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

    private static func conversion(from system: OpaquePointer, in context: OpaquePointer) -> OpaquePointer? {
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

    // Before their context is destroyed.
    deinit { candidates.destroy() }
}

extension CoordinateReferenceSystem {
    /// An operation between a system and WGS 84, as the EPSG register describes it.
    package struct Operation: Hashable, Sendable {
        /// The register's names of its steps, such as "Inverse of Italy zone 1 + Monte Mario to WGS 84 (4)".
        package let name: String
        /// The accuracy in meters that the register states for the operation's area; `nil` if it states none or the
        /// place is outside this area.
        package let accuracyMeters: Double?

        fileprivate init(name: String, accuracyMeters: Double?) {
            self.name = name
            self.accuracyMeters = accuracyMeters
        }

        /// Copied out of PROJ's object.
        fileprivate init(of operation: OpaquePointer?, in context: OpaquePointer) {
            let accuracy = operation.map { proj_coordoperation_get_accuracy(context, $0) } ?? -1
            self.init(name: Self.name(of: operation), accuracyMeters: accuracy < 0 ? nil : accuracy)
        }

        /// The register's steps, without PROJ's own about the order of axes.
        fileprivate static func name(of operation: OpaquePointer?) -> String {
            let name = operation.flatMap { proj_get_name($0) }.map { String(cString: $0) } ?? "unnamed operation"
            var steps = Substring(name)
            if steps.hasPrefix("axis order change (2D) + ") {
                steps = steps.dropFirst("axis order change (2D) + ".count)
            }
            if steps.hasSuffix(" + axis order change (2D)") {
                steps = steps.dropLast(" + axis order change (2D)".count)
            }
            return String(steps)
        }
    }
}

extension CoordinateReferenceSystem {
    /// The operations that made the numbers of an answer or the places of a file.
    package struct UsedOperations: Sendable {
        private var operations: Set<Operation> = []

        /// No operations.
        package init() {}

        /// Adds an operation; a repeated one changes nothing.
        package mutating func insert(_ operation: Operation) { operations.insert(operation) }

        /// By name; the same name twice if a place was outside the operation's area.
        package var inOrder: [Operation] {
            operations.sorted { ($0.name, $0.accuracyMeters ?? .infinity) < ($1.name, $1.accuracyMeters ?? .infinity) }
        }

        /// The accuracy of the worst of them in meters; `nil` if one is unknown or there are none.
        package var accuracyMeters: Double? {
            let known = operations.compactMap(\.accuracyMeters)
            return known.count == operations.count ? known.max() : nil
        }
    }
}

/// The operations that the register has between a system and WGS 84, in PROJ's order.
private struct OperationList {
    private let list: OpaquePointer
    private let operations: [CoordinateReferenceSystem.Operation]

    /// The candidates of `proj_create_crs_to_crs` without ballpark operations. The caller ends them with ``destroy()``.
    init(code: String, in context: OpaquePointer) throws(GeodesyError) {
        let doing = "list the operations between \(code) and WGS 84"
        let settings = proj_create_operation_factory_context(context, nil)
        defer { proj_operation_factory_context_destroy(settings) }
        let system = proj_create_from_database(context, "EPSG", String(code.dropFirst(5)), PJ_CATEGORY_CRS, 0, nil)
        defer { proj_destroy(system) }
        let wgs84 = proj_create_from_database(context, "EPSG", "4326", PJ_CATEGORY_CRS, 0, nil)
        defer { proj_destroy(wgs84) }
        guard let settings, let system, let wgs84 else { throw .last(of: context, doing: doing) }
        proj_operation_factory_context_set_allow_ballpark_transformations(context, settings, 0)
        proj_operation_factory_context_set_spatial_criterion(
            context, settings, PROJ_SPATIAL_CRITERION_PARTIAL_INTERSECTION)
        proj_operation_factory_context_set_grid_availability_use(
            context, settings, PROJ_GRID_AVAILABILITY_DISCARD_OPERATION_IF_MISSING_GRID)
        guard let list = proj_create_operations(context, system, wgs84, settings) else {
            throw .last(of: context, doing: doing)
        }
        operations = (0..<proj_list_get_count(list)).map { index in
            let operation = proj_list_get(context, list, index)
            defer { proj_destroy(operation) }
            return .init(of: operation, in: context)
        }
        self.list = list
    }

    func destroy() { proj_list_destroy(list) }

    /// PROJ's choice at a place; `nil` if the place is outside the areas of all operations.
    func operation(at coordinate: Coordinate, in context: OpaquePointer) -> CoordinateReferenceSystem.Operation? {
        if operations.count == 1 { return operations[0] }
        // EPSG:4326 has latitude first.
        let place = proj_coord(coordinate.latitude, coordinate.longitude, 0, 0)
        let index = Int(proj_get_suggested_operation(context, list, PJ_INV, place))
        return operations.indices.contains(index) ? operations[index] : nil
    }
}

/// The register's entry of a system, copied from PROJ's objects.
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
