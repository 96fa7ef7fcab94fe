internal import Foundation
internal import Geodesy

/// The magnetic field of the earth's core and crust: which way a compass points, by the World Magnetic Model 2025.
///
/// Source: NOAA and British Geological Survey, The US/UK World Magnetic Model for 2025-2030 (technical report, DOI
/// 10.25921/aqfd-sd83), degree and order 12. Not for several threads at once: it owns a PROJ context.
package final class WorldMagneticModel {
    /// A field in the directions of the ellipsoid, in nanoteslas.
    package struct Field: Sendable {
        package let north, east, down: Double

        /// Degrees from true north to where a compass points, east positive. Within 2,000 nT of horizontal field,
        /// around the magnetic poles, it means little.
        package var declination: Double { atan2(east, north) * 180 / .pi }
        package var horizontal: Double { (north * north + east * east).squareRoot() }
    }

    private struct Coefficient {
        let degree, order: Int
        let g, h, yearlyG, yearlyH: Double
    }

    /// The decimal years for which the model was made. Other dates get the field of the nearest one.
    package static let years = 2025.0...2030.0
    /// The radius of the model's sphere, in meters.
    private static let radiusMeters = 6_371_200.0
    private static let degreeMax = 12

    private static let coefficients: [Coefficient] = published.split(separator: "\n").map { line in
        let fields = line.split(separator: " ")
        let numbers = fields.compactMap { Double($0) }
        precondition(fields.count == 6 && numbers.count == 6, "A line of the model has six numbers.")
        return Coefficient(
            degree: Int(numbers[0]), order: Int(numbers[1]), g: numbers[2], h: numbers[3], yearlyG: numbers[4],
            yearlyH: numbers[5])
    }

    private let transform = GeocentricTransform()

    package init() {}

    /// The field at a place, `ellipsoidalHeight` meters above the ellipsoid; `nil` when the coordinate is no place.
    ///
    /// At a pole the directions are those of the coordinate's meridian. About 2 µs.
    package func field(
        at coordinate: CLLocationCoordinate2D, ellipsoidalHeight: Double = 0, on date: Date
    ) -> Field? {
        guard let place = coordinate.place else { return nil }
        let point = transform.point(place, ellipsoidalHeight: ellipsoidalHeight)
        let radius = (point.x * point.x + point.y * point.y + point.z * point.z).squareRoot()
        let sine = point.z / radius
        // Some meters beside the pole in place of it, where all meridians meet and the formulas divide by zero.
        let cosine = max((point.x * point.x + point.y * point.y).squareRoot() / radius, 1e-6)
        let longitude = place.longitude * .pi / 180
        let years = min(max(date.decimalYear, Self.years.lowerBound), Self.years.upperBound) - Self.years.lowerBound

        let legendre = Self.legendre(sine: sine, cosine: cosine)
        let orders = (0...Self.degreeMax).map { (cos: cos(Double($0) * longitude), sin: sin(Double($0) * longitude)) }
        let scales = (0...Self.degreeMax).map { pow(Self.radiusMeters / radius, Double($0 + 2)) }
        var (north, east, down) = (0.0, 0.0, 0.0)
        for term in Self.coefficients {
            let (n, m) = (term.degree, term.order)
            let g = term.g + years * term.yearlyG
            let h = term.h + years * term.yearlyH
            let (c, s) = orders[m]
            let scale = scales[n]
            let value = legendre[n][m]
            let below = n > m ? legendre[n - 1][m] : 0
            let slope = (Double(n * n - m * m).squareRoot() * below - Double(n) * sine * value) / cosine
            north -= scale * (g * c + h * s) * slope
            east += scale * Double(m) * (g * s - h * c) * value / cosine
            down -= scale * Double(n + 1) * (g * c + h * s) * value
        }
        // From the sphere's directions to the ellipsoid's: they differ by the angle between the two latitudes.
        let angle = atan2(sine, cosine) - place.latitude * .pi / 180
        return Field(
            north: north * cos(angle) - down * sin(angle), east: east, down: north * sin(angle) + down * cos(angle))
    }

    /// Associated Legendre functions, Schmidt's half normalization, by degree and order.
    private static func legendre(sine: Double, cosine: Double) -> [[Double]] {
        var values = [[1.0]]
        for n in 1...degreeMax {
            var row: [Double] = []
            for m in 0..<n {
                let last = Double(2 * n - 1) * sine * values[n - 1][m]
                let beforeLast = m < n - 1 ? Double((n - 1) * (n - 1) - m * m).squareRoot() * values[n - 2][m] : 0
                row.append((last - beforeLast) / Double(n * n - m * m).squareRoot())
            }
            let factor = n == 1 ? 1 : (Double(2 * n - 1) / Double(2 * n)).squareRoot()
            row.append(factor * cosine * values[n - 1][n - 1])
            values.append(row)
        }
        return values
    }
}

extension Date {
    /// The year with its fraction gone by, in UTC and the Gregorian calendar.
    ///
    /// By hand, because a compass that turns asks ten times a second and `Calendar` takes a tenth of a millisecond.
    var decimalYear: Double {
        let days = timeIntervalSince1970 / 86_400
        var year = 1970 + Int((days / 365.2425).rounded(.down))
        // The average year may be a day off around the turn of a year.
        if Double(Self.days(before: year)) > days { year -= 1 }
        if Double(Self.days(before: year + 1)) <= days { year += 1 }
        let begin = Self.days(before: year)
        return Double(year) + (days - Double(begin)) / Double(Self.days(before: year + 1) - begin)
    }

    /// Days from 1970 to the beginning of a year.
    private static func days(before year: Int) -> Int {
        func leapYears(until year: Int) -> Int { year / 4 - year / 100 + year / 400 }
        return 365 * (year - 1970) + leapYears(until: year - 1) - leapYears(until: 1969)
    }
}
