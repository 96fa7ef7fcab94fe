import Geodesy
import Testing
import Whereabouts

/// Which trips a read finds, and which a permit hides.
@Suite struct TripSearchTests {
    private static let day: Int64 = 86_400
    private static func time(_ second: Int64) -> Timestamp { House.start.adding(seconds: second) }

    /// The walker's own permit, or the friend's from second `from` on.
    private static func permit(from: Int64? = nil, isOwn: Bool = false) throws -> Permit {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", from: from.map(time), by: scene.walker)
        scene.house.now = time(20 * day)
        return try scene.house.standing.authorize(
            isOwn ? scene.walker : scene.friend, to: .readHistory, about: House.handle("walker"), at: scene.house.now
        ).get()
    }

    /// A visit at a place some kilometers east of the last.
    private static func visit(_ arrival: Int64, _ departure: Int64?, at place: Double = 0) throws -> Visit {
        Visit(
            id: UInt64(bitPattern: arrival), arrival: time(arrival), departure: departure.map(time),
            coordinate: try Coordinate(latitude: 48, longitude: 16 + place / 100), horizontalAccuracy: 10, fixes: 20,
            firstReported: time(arrival), departureReported: departure.map(time))
    }

    private static func seconds(_ moment: Timestamp?) -> Int64? {
        moment.map { ($0.milliseconds - House.start.milliseconds) / 1000 }
    }

    @Test(
        arguments: [
            (nil, nil, nil, nil, nil), (10, nil, nil, 8, nil), (10, 12, nil, 8, 14), (10, nil, 9, 9, nil),
            (10, nil, 5, 8, nil), (nil, 12, 5, nil, 14),
        ] as [(Int64?, Int64?, Int64?, Int64?, Int64?)])
    func `visits are read two days around the range, and none from before the grant`(
        from: Int64?, to: Int64?, granted: Int64?, reachFrom: Int64?, reachTo: Int64?
    ) throws {
        let permit = try granted.map { try Self.permit(from: $0 * Self.day) } ?? Self.permit(isOwn: true)
        let search = TripSearch(
            permit, from: from.map { Self.time($0 * Self.day) }, to: to.map { Self.time($0 * Self.day) })
        #expect(Self.seconds(search.reach.from) == reachFrom.map { $0 * Self.day })
        #expect(Self.seconds(search.reach.to) == reachTo.map { $0 * Self.day })
    }

    @Test func `stretches are the times between visits that overlap the range`() throws {
        let visits = [
            try Self.visit(1000, 2000), try Self.visit(3000, 4000, at: 1), try Self.visit(5000, 6000, at: 2),
        ]
        func stretches(_ from: Int64?, _ to: Int64?, isLastPage: Bool = true) throws -> [[Int64?]] {
            TripSearch(try Self.permit(isOwn: true), from: from.map(Self.time), to: to.map(Self.time))
                .stretches(between: visits, isLastPage: isLastPage).map {
                    [Self.seconds($0.from), Self.seconds($0.to)]
                }
        }
        #expect(try stretches(nil, nil) == [[nil, 1000], [2000, 3000], [4000, 5000], [6000, nil]])
        // The next page begins with the last visit of a full one.
        #expect(try stretches(nil, nil, isLastPage: false) == [[nil, 1000], [2000, 3000], [4000, 5000]])
        #expect(try stretches(2500, 4500) == [[2000, 3000], [4000, 5000]])
        // Touching the range is not overlapping it.
        #expect(try stretches(3000, 4000) == [])
        #expect(try stretches(7000, nil) == [[6000, nil]])
    }

    @Test func `nothing follows a visit that still lasts`() throws {
        let search = TripSearch(try Self.permit(isOwn: true), from: nil, to: nil)
        let stretches = search.stretches(
            between: [try Self.visit(1000, 2000), try Self.visit(3000, nil)], isLastPage: true)
        #expect(stretches.map { Self.seconds($0.from) } == [nil, 2000])
        // Without any visit there is one stretch, open at both ends.
        let open = search.stretches(between: [], isLastPage: true)
        #expect(open.count == 1 && open[0].from == nil && open[0].to == nil)
    }

    /// A drive of 15 km in 20 minutes, a fix each half minute.
    private static func drive(_ from: Int64, _ to: Int64) throws -> [StoredFix] {
        try stride(from: from, through: to, by: 30).map { second in
            let share = Double(second - from) / Double(to - from)
            return StoredFix(
                device: DeviceID(rawValue: 3), timestamp: time(second),
                coordinate: try Coordinate(latitude: 48, longitude: 16 + share / 5), horizontalAccuracy: 5,
                receivedAt: nil)
        }
    }

    @Test func `a hidden fix counts as little as one that was never reported`() throws {
        let fixes = try Self.drive(2000, 3200)
        let own = TripSearch(try Self.permit(isOwn: true), from: nil, to: nil)
        // The grant begins in the middle of the drive.
        let shown = TripSearch(try Self.permit(from: 2600), from: nil, to: nil)
        func trips(_ search: TripSearch, _ fixes: [StoredFix]) -> [Trip] {
            search.inRange(
                search.stretches(between: [], isLastPage: true).flatMap { search.trips(of: $0, fixes: fixes) })
        }
        let late = fixes.filter { Self.time(2600) <= $0.timestamp }
        #expect(trips(shown, fixes) == trips(own, late))
        #expect(trips(shown, fixes) != trips(own, fixes))
        #expect(trips(shown, fixes).allSatisfy { Self.time(2600) <= $0.start })
        #expect(!trips(shown, fixes).isEmpty)
    }

    @Test func `a trip outside the range is left out`() throws {
        let trip = Trip(
            start: Self.time(100), end: Self.time(200), from: try Coordinate(latitude: 48, longitude: 16),
            to: try Coordinate(latitude: 48, longitude: 16.1),
            way: Trip.Way(distanceMeters: 7000, mode: .drive, confidence: 0.9, fixes: 5))
        for (from, to, isThere) in [
            (nil, nil, true), (199, nil, true), (200, nil, false), (nil, 101, true), (nil, 100, false),
            (120, 130, true),
        ] as [(Int64?, Int64?, Bool)] {
            let search = TripSearch(try Self.permit(isOwn: true), from: from.map(Self.time), to: to.map(Self.time))
            #expect(search.inRange([trip]).isEmpty == !isThere)
        }
    }
}
