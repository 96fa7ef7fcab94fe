internal import Foundation

/// Reproducible pseudo-random numbers: the same seed gives the same numbers on every run.
///
/// Source: SplitMix64 (Steele, Lea, Flood 2014, DOI 10.1145/2714064.2660195), chosen because its sequence can start at
/// any state: each use has a separate stream, and no use disturbs another.
package struct SeededNoise: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// - Parameters:
    ///   - seed: of the simulation.
    ///   - purpose: a constant of the use, which keeps the streams apart.
    ///   - place: where in the stream, as a time in milliseconds.
    package init(seed: UInt64, purpose: UInt64, place: Int64 = 0) {
        state = seed
        for part in [purpose, UInt64(bitPattern: place)] { state = next() ^ part }
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// 0 ..< 1.
    package mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Distance and direction of an error whose east and north parts are normal with this deviation each.
    mutating func displacement(sigma: Double) -> (meters: Double, azimuth: Double) {
        (sigma * (-2 * log(1 - uniform())).squareRoot(), uniform() * 360)
    }
}
