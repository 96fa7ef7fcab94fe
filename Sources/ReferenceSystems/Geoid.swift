import CPROJ
package import Geodesy

/// Mean sea level by the geoid EGM96: converts between heights above it and heights above the WGS 84 ellipsoid, by
/// PROJ.
///
/// The grid is `egm96_15.gtx` of Debian's `proj-data`: 15′, interpolated bilinearly, which differs from the full
/// spherical harmonic model by up to about 1 m in mountains and trenches, usually by centimeters. EGM96 itself is good to
/// about 0.5 m to 1 m (NASA/TP-1998-206861).
///
/// One per thread: it owns its PROJ context. The first look-up reads 4 MB from disk.
package final class Geoid {
    private let grid: ProjOperation

    /// - Throws: ``GeodesyError/proj(doing:number:message:)`` if the grid is not installed.
    package init() throws(GeodesyError) {
        grid = try ProjOperation(doing: "open the EGM96 grid egm96_15.gtx (package proj-data)") { context in
            proj_create(context, "+proj=vgridshift +grids=egm96_15.gtx +multiplier=1")
        }
    }

    /// Meters of the geoid above the ellipsoid: −106.9 (south of India) … 85.4 (New Guinea). About 0.2 µs.
    ///
    /// - Throws: ``GeodesyError/proj(doing:number:message:)`` if the grid cannot be read.
    package func separation(at coordinate: Coordinate) throws(GeodesyError) -> Double {
        proj_errno_reset(grid.operation)
        let place = proj_coord(coordinate.longitude * .pi / 180, coordinate.latitude * .pi / 180, 0, 0)
        let separation = proj_trans(grid.operation, PJ_FWD, place).lpz.z
        guard separation.isFinite, proj_errno(grid.operation) == 0 else {
            throw .last(of: grid.context, doing: "look up the EGM96 grid")
        }
        return separation
    }

    /// Meters above mean sea level of a height above the ellipsoid: h − N.
    ///
    /// - Throws: as ``separation(at:)``.
    package func heightAboveMeanSeaLevel(
        ellipsoidal height: Double, at coordinate: Coordinate
    ) throws(GeodesyError) -> Double {
        height - (try separation(at: coordinate))
    }

    /// Meters above the ellipsoid of a height above mean sea level: H + N.
    ///
    /// - Throws: as ``separation(at:)``.
    package func ellipsoidalHeight(
        aboveMeanSeaLevel height: Double, at coordinate: Coordinate
    ) throws(GeodesyError) -> Double {
        height + (try separation(at: coordinate))
    }
}
