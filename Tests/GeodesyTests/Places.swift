import Geodesy
import TestSupport

/// Seeded places and pairs, with every degenerate class the geodesic problem has.
enum Places {
    static func place<G: RandomNumberGenerator>(_ generator: inout G) throws -> Coordinate {
        // Even over the earth: the sine of the latitude is even in −1…1; a rational stand-in for its inverse suffices.
        let sine = Double.random(in: -1...1, using: &generator)
        return try Coordinate(
            latitude: 90 * sine * (0.64 + 0.36 * sine * sine), longitude: .random(in: -180...180, using: &generator))
    }

    static func degrees(_ longitude: Double) -> Double {
        longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
    }

    /// A pair of each class in turn; `count` pairs.
    static func pairs(count: Int, seed: UInt64) throws -> [(Coordinate, Coordinate)] {
        var generator = SplitMix(seed)
        return try (0..<count).map { index in
            let a = try place(&generator)
            let b = try place(&generator)
            func random(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &generator) }
            func pair(_ latitude: Double, _ longitude: Double) throws -> (Coordinate, Coordinate) {
                (a, try Coordinate(latitude: min(max(latitude, -90), 90), longitude: degrees(longitude)))
            }
            switch index % 20 {
            case 0: return try pair(-a.latitude, a.longitude + 180)
            case 1: return try pair(-a.latitude + random(-1...1), a.longitude + 180 + random(-1...1))
            case 2: return try pair(-a.latitude + random(-1e-6...1e-6), a.longitude + 180 + random(-1e-6...1e-6))
            case 3: return try pair(index % 40 == 3 ? 90 : -90, b.longitude)
            case 4:
                return (
                    try Coordinate(latitude: 90, longitude: a.longitude),
                    try Coordinate(latitude: index % 40 == 4 ? -90 : 90, longitude: b.longitude)
                )
            case 5: return (try Coordinate(latitude: 0, longitude: a.longitude), try equator(b.longitude))
            case 6: return (try equator(a.longitude), try equator(degrees(a.longitude + 180 + random(-1...1))))
            case 7: return try pair(b.latitude, a.longitude)
            case 8: return try pair(b.latitude, a.longitude + 180)
            case 9: return try pair(a.latitude + random(-5e-9...5e-9), a.longitude + random(-5e-9...5e-9))
            case 10: return (a, a)
            case 11: return try pair(a.latitude + random(-1e-3...1e-3), a.longitude + random(-1e-3...1e-3))
            case 12: return try pair(a.latitude + random(-0.1...0.1), a.longitude + random(-0.1...0.1))
            case 13:
                return (
                    try Coordinate(latitude: a.latitude, longitude: 180 - random(0...1e-3)),
                    try Coordinate(latitude: a.latitude, longitude: -180 + random(0...1e-3))
                )
            default: return (a, b)
            }
        }
    }

    private static func equator(_ longitude: Double) throws -> Coordinate {
        try Coordinate(latitude: 0, longitude: longitude)
    }
}

/// The sine of an angle in radians, by its Taylor series: test shapes need no better.
func sine(_ angle: Double) -> Double {
    let x = angle.remainder(dividingBy: 2 * .pi)
    var term = x
    var sum = x
    for n in stride(from: 3.0, through: 31, by: 2) {
        term *= -x * x / (n * (n - 1))
        sum += term
    }
    return sum
}
