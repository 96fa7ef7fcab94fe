import Geodesy
import Testing

@testable import Whereabouts
@testable import WhereaboutsTests

/// Modes of travel, tested with movements of published speeds (``Ride``).
@Suite struct RideTests {
    struct Told {
        let kind: Ride.Kind
        let way: Trip.Way
    }

    /// Ways of one kind, as phones of one habit report them.
    static func told(_ kind: Ride.Kind, everySeconds: Int, meters: Double, count: Int) throws -> [Told] {
        let home = try Coordinate(latitude: 47.07, longitude: 15.44)
        return (0..<count).compactMap { number in
            let fixes = Ride(kind, seed: UInt64(number * 31 + 7)).fixes(
                from: home, at: VisitDerivationTests.midnight, everySeconds: everySeconds, meters: meters)
            let ways = TripDerivation.trips(from: nil, to: nil, fixes: fixes).compactMap(\.way)
            return ways.max { $0.distanceMeters < $1.distanceMeters }.map { Told(kind: kind, way: $0) }
        }
    }

    /// Phones that look each 10 s, each 30 s, each 30 m or 15 s, and each 100 m or minute.
    static let phones: [(everySeconds: Int, meters: Double)] = [(10, 0), (30, 0), (15, 30), (60, 100)]

    @Test(arguments: Ride.Kind.allCases)
    func `85 of 100 movements with published speeds are recognized`(kind: Ride.Kind) throws {
        for phone in Self.phones {
            let told = try Self.told(kind, everySeconds: phone.everySeconds, meters: phone.meters, count: 60)
            try #require(told.count >= 50)
            let right = told.count { $0.way.mode == kind.mode }
            #expect(Double(right) >= 0.85 * Double(told.count), "each \(phone.everySeconds) s, \(phone.meters) m")
        }
    }

    private func trip(_ mode: Trip.Mode, _ confidence: Double, from: Coordinate, to: Coordinate, hour: Int64) -> Trip {
        Trip(
            start: VisitDerivationTests.midnight.adding(seconds: hour * 3600),
            end: VisitDerivationTests.midnight.adding(seconds: hour * 3600 + 2400), from: from, to: to,
            way: Trip.Way(distanceMeters: 40_000, mode: mode, confidence: confidence, fixes: 80))
    }

    /// The way out is certainly a train ride; the way back could be a drive.
    @Test func `a doubtful way back has the mode of the way out`() throws {
        let home = try Coordinate(latitude: 47.07, longitude: 15.44)
        let work = try Coordinate(latitude: 47.4, longitude: 15.3)
        let there = trip(.train, 0.95, from: home, to: work, hour: 8)
        let back = trip(.drive, 0.4, from: work, to: home, hour: 17)
        #expect(TripDerivation.inContext([there, back]).map { $0.way?.mode } == [.train, .train])
        // Somewhere else, or the day after the next, it says nothing.
        let later = trip(.drive, 0.4, from: work, to: home, hour: 17 + 48)
        #expect(TripDerivation.inContext([there, later]).map { $0.way?.mode } == [.train, .drive])
    }

    /// Of the movements with a confidence of at least 0.9, 9 in 10 have the right mode.
    @Test func `confidence is honest`() throws {
        let told = try Self.phones.flatMap { phone in
            try Ride.Kind.allCases.flatMap {
                try Self.told($0, everySeconds: phone.everySeconds, meters: phone.meters, count: 40)
            }
        }
        for (low, high) in [(0.5, 0.7), (0.7, 0.9), (0.9, 1.01)] {
            let some = told.filter { $0.way.confidence >= low && $0.way.confidence < high }
            guard some.count >= 30 else { continue }
            let right = Double(some.count { $0.way.mode == $0.kind.mode }) / Double(some.count)
            #expect(right >= low - 0.1)
        }
    }
}
