import Geodesy
import Testing
import Whereabouts

/// The parts that a permit shows of rows that rest on several moments.
@Suite struct PermitRowsTests {
    private static func time(_ second: Int64) -> Timestamp { House.start.adding(seconds: second) }

    private static func permit(_ caller: Caller, _ scene: Scene) throws -> Permit {
        try scene.house.standing.authorize(
            caller, to: .readHistory, about: House.handle("walker"), at: scene.house.now
        ).get()
    }

    /// The friend's permit from second 100 on; the walker paused from second 200 to 300.
    private static func friends() throws -> Permit {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", from: time(100), by: scene.walker)
        scene.house.now = time(200)
        scene.house.submit(.pauseSharing(House.handle("walker"), until: time(300)), by: scene.walker)
        scene.house.now = time(1000)
        return try permit(scene.friend, scene)
    }

    @Test func `only the person and the operator see the person's own names`() throws {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        let place = try Coordinate(latitude: 48.2, longitude: 16.4)
        let corrections = VisitCorrections([.rename(place, "Grandmother's")])
        for (caller, name) in [(scene.walker, "Grandmother's"), (scene.admin, "Grandmother's"), (scene.friend, nil)] {
            let permit = try Self.permit(caller, scene)
            #expect(permit.showsOwnNames == (name != nil))
            #expect(permit.ownName(of: place, in: corrections) == name)
        }
        let elsewhere = try Coordinate(latitude: 48.3, longitude: 16.4)
        #expect(try Self.permit(scene.walker, scene).ownName(of: elsewhere, in: corrections) == nil)
    }

    @Test(
        arguments: [
            (nil, nil, nil, 100, nil), (50, 150, nil, 100, 150), (120, 150, nil, 120, 150), (nil, nil, 700, 100, 700),
            (nil, 600, 700, 100, 600), (nil, 800, 700, 100, 700),
        ] as [(Int64?, Int64?, Int64?, Int64, Int64?)])
    func `a range begins with the grant, and a further page ends with its read`(
        from: Int64?, to: Int64?, begun: Int64?, expectedFrom: Int64, expectedTo: Int64?
    ) throws {
        let range = try Self.friends().range(
            from: from.map(Self.time), to: to.map(Self.time), begun: begun.map(Self.time))
        #expect(range.from == Self.time(expectedFrom))
        #expect(range.to == expectedTo.map(Self.time))
    }

    @Test func `the person's range is not cut`() throws {
        let scene = Scene()
        let range = try Self.permit(scene.walker, scene).range(from: nil, to: nil, begun: nil)
        #expect(range.from == nil && range.to == nil)
    }

    @Test(arguments: [(400, 400), (300, 300), (250, 190), (50, nil)] as [(Int64, Int64?)])
    func `the newest row is the one before the pause, and none from before the grant`(
        newest: Int64, expected: Int64?
    ) throws {
        let rows: [Int64] = [10, 90, 190, 220, 290]
        let permit = try Self.friends()
        let found = permit.newestShown(newest, time: Self.time) { moment in rows.last { Self.time($0) <= moment } }
        #expect(found == expected)
    }

    @Test(
        arguments: [
            (150, 160, true), (nil, 160, true), (150, nil, true), (nil, nil, true), (90, 160, false), (190, 210, false),
            (290, 310, false), (300, 310, true),
        ] as [(Int64?, Int64?, Bool)])
    func `a crossing between a shown and a hidden fix is hidden`(before: Int64?, after: Int64?, isShown: Bool) throws {
        let permit = try Self.friends()
        #expect(permit.showsCrossing(between: before.map(Self.time), and: after.map(Self.time)) == isShown)
    }

    @Test(
        arguments: [
            (110, 150, true), (90, 150, false), (150, 190, true), (150, 400, false), (250, 400, false),
            (300, 400, true),
        ] as [(Int64, Int64, Bool)])
    func `a stay with a hidden part has no length`(entered: Int64, left: Int64, isShown: Bool) throws {
        let entry = try Self.friends().shownEntry(Self.time(entered), before: Self.time(left))
        #expect(entry == (isShown ? Self.time(entered) : nil))
        #expect(try Self.friends().shownEntry(nil, before: Self.time(left)) == nil)
    }

    /// The walker paused from second 200 to 300, and it is second 1000.
    @Test(
        arguments: [
            (110, 150, true), (90, 150, false), (150, 400, false), (250, 260, false), (300, 400, true),
            (150, nil, false), (400, nil, true),
        ] as [(Int64, Int64?, Bool)])
    func `a visit with a hidden part is hidden, and one that still lasts goes on until now`(
        arrival: Int64, departure: Int64?, isShown: Bool
    ) throws {
        let place = try Coordinate(latitude: 48.2, longitude: 16.4)
        let visit = Visit(
            id: 1, arrival: Self.time(arrival), departure: departure.map(Self.time), coordinate: place,
            horizontalAccuracy: 10, fixes: 5, firstReported: Self.time(arrival), departureReported: nil)
        #expect(try Self.friends().shows(visit, at: Self.time(1000)) == isShown)
        for moment in [arrival, departure ?? arrival] {
            let fix = Fix(timestamp: Self.time(moment), coordinate: place, horizontalAccuracy: 5)
            #expect(try Self.friends().shows(fix) == Self.friends().shows(Self.time(moment)))
        }
    }
}
