import Geodesy

/// The geodesic between two places.
struct Way {
    private let start: Coordinate
    private let azimuth: Double
    private let meters: Double

    init(from start: Coordinate, to end: Coordinate) {
        self.start = start
        let inverse = Geodesic.inverse(from: start, to: end)
        (azimuth, meters) = (inverse.initialAzimuth, inverse.distanceMeters)
    }

    func place(at share: Double) -> Coordinate {
        Geodesic.direct(from: start, initialAzimuth: azimuth, distanceMeters: share * meters)
    }

    /// The share of the way at which it meets the edge of an area, if its ends are on different sides; to a millimeter.
    func boundary(of area: Area, between low: Double, _ high: Double, guess: Double?) -> Double {
        switch area {
        case .circle(let circle): regulaFalsi(low, high, guess) { circle.signedDistanceMeters(to: place(at: $0)) }
        case .polygon(let polygon): halving(low, high) { polygon.contains(place(at: $0)) }
        }
    }

    private static let toleranceMeters = 0.001

    /// By the Illinois rule (Dowell and Jarratt 1971, DOI 10.1007/BF01934364): some six evaluations instead of twenty.
    private func regulaFalsi(
        _ low: Double, _ high: Double, _ guess: Double?, _ signedMeters: (Double) -> Double
    ) -> Double {
        if let guess, guess > low, guess < high, abs(signedMeters(guess)) < Self.toleranceMeters { return guess }
        var (a, b) = ((at: low, value: signedMeters(low)), (at: high, value: signedMeters(high)))
        for _ in 0..<60 where a.value != b.value {
            let at = b.at - b.value * (b.at - a.at) / (b.value - a.value)
            let value = signedMeters(at)
            if (value < 0) == (b.value < 0) { a.value /= 2 } else { a = b }
            b = (at, value)
            if abs(value) < Self.toleranceMeters { break }
        }
        return min(high, max(low, b.at))
    }

    private func halving(_ low: Double, _ high: Double, _ isInside: (Double) -> Bool) -> Double {
        var (low, high) = (low, high)
        let startsInside = isInside(low)
        while (high - low) * meters > Self.toleranceMeters {
            let middle = (low + high) / 2
            if isInside(middle) == startsInside { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}
