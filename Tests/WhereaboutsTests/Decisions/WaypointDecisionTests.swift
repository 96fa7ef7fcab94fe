import Geodesy
import Testing
import Whereabouts

@Suite struct WaypointDecisionTests {
    private static func waypoint(_ created: Int64, _ name: String, radius: Double? = 150) throws -> Waypoint {
        let center = try Coordinate(latitude: 46.5, longitude: 9.25)
        return Waypoint(
            created: House.start.adding(seconds: created), name: name,
            circle: try radius.map { try Circle(center: center, radiusMeters: $0) })
    }

    private static func report(_ waypoints: [Waypoint], to scene: inout Scene) -> [FixOutcome] {
        guard
            case .success(.fixes(let outcomes)) = scene.house.submit(
                .reportFixes(device: .caller, waypoints.map { .waypoint($0) }), by: scene.phone)
        else { return [] }
        return outcomes
    }

    private static func regions(_ scene: Scene) -> [String] {
        let ids = scene.house.standing.persons[scene.walkerID]?.regions ?? []
        return ids.compactMap { id in
            guard let region = scene.house.standing.regions[id], case .circle(let circle) = region.area else {
                return nil
            }
            return "\(region.identifier) \(Int(circle.radiusMeters))"
        }
    }

    @Test func `a waypoint is a region of the device's owner, once`() throws {
        var scene = Scene()
        let home = try Self.waypoint(1, "home")
        #expect(Self.report([home, home], to: &scene) == [.new, .duplicate])
        #expect(Self.report([home], to: &scene) == [.duplicate])
        #expect(Self.regions(scene) == ["home 150"])
    }

    @Test func `changed in the app it replaces the region, and deleted it removes it`() throws {
        var scene = Scene()
        #expect(Self.report([try Self.waypoint(1, "home"), try Self.waypoint(2, "work")], to: &scene) == [.new, .new])
        #expect(Self.report([try Self.waypoint(1, "home", radius: 200)], to: &scene) == [.new])
        #expect(Self.regions(scene) == ["work 150", "home 200"])
        #expect(Self.report([try Self.waypoint(1, "villa", radius: 200)], to: &scene) == [.new])
        #expect(Self.regions(scene) == ["work 150", "villa 200"])
        let gone = try Self.waypoint(2, "work", radius: nil)
        #expect(Self.report([gone, gone], to: &scene) == [.new, .duplicate])
        #expect(Self.regions(scene) == ["villa 200"])
    }

    @Test func `two of one name are two regions, and known again`() throws {
        var scene = Scene()
        scene.house.submit(.addRegion(AnyRegion.home, of: House.handle("walker")), by: scene.walker)
        let both = [try Self.waypoint(1, "home", radius: 1), try Self.waypoint(2, "home", radius: 2)]
        #expect(Self.report(both, to: &scene) == [.new, .new])
        #expect(Self.regions(scene) == ["home 150", "home 2 1", "home 3 2"])
        #expect(Self.report(both, to: &scene) == [.duplicate, .duplicate])
        // The longest name leaves room for its number.
        let long = String(repeating: "x", count: Limits.regionNameCharacters)
        _ = Self.report([try Self.waypoint(3, long), try Self.waypoint(4, long)], to: &scene)
        #expect(Self.regions(scene).last == long.dropLast(2) + " 2 150")
    }

    @Test func `the last of many changes in one list counts`() throws {
        var scene = Scene()
        let steps = [
            try Self.waypoint(1, "a"), try Self.waypoint(1, "b"), try Self.waypoint(1, "b", radius: nil),
            try Self.waypoint(1, "c", radius: 9),
        ]
        #expect(Self.report(steps, to: &scene) == [.new, .new, .new, .new])
        #expect(Self.regions(scene) == ["c 9"])
    }
}
