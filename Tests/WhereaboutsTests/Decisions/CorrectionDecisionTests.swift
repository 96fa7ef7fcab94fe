import Geodesy
import Testing
import Whereabouts

@Suite struct CorrectionDecisionTests {
    private static let merge = Correction.merge(House.start..<House.start.adding(seconds: 60))

    private static func make(_ scene: inout Scene, _ correction: Correction = merge) -> CorrectionID? {
        let reply = scene.house.submit(.correct(correction, of: House.handle("walker")), by: scene.walker)
        guard case .success(.correction(let id)) = reply else { return nil }
        return id
    }

    @Test func `a person corrects, withdraws, and nothing is left of it when they are erased`() throws {
        var scene = Scene()
        let spot = try Coordinate(latitude: 1, longitude: 2)
        let first = try #require(Self.make(&scene))
        let second = try #require(Self.make(&scene, .rename(spot, "Home")))
        #expect(scene.house.standing.corrections(of: scene.walkerID).map(\.id) == [first, second])
        #expect(
            scene.house.submit(.withdrawCorrection(first, of: House.handle("walker")), by: scene.walker)
                == .success(.done))
        #expect(
            scene.house.submit(.withdrawCorrection(first, of: House.handle("walker")), by: scene.walker)
                == .failure(.notFound))
        #expect(scene.house.standing.corrections(of: scene.walkerID).map(\.correction) == [.rename(spot, "Home")])
        scene.house.submit(.erasePerson(House.handle("walker")), by: scene.walker)
        #expect(scene.house.standing.corrections(of: scene.walkerID).isEmpty)
    }

    @Test func `nobody corrects somebody else, and there are bounds`() throws {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        let id = try #require(Self.make(&scene))
        for caller in [scene.friend, scene.stranger, scene.phone] {
            #expect(
                scene.house.submit(.correct(Self.merge, of: House.handle("walker")), by: caller)
                    == .failure(.noSuchPerson))
            #expect(
                scene.house.submit(.withdrawCorrection(id, of: House.handle("walker")), by: caller)
                    == .failure(.noSuchPerson))
        }
        #expect(
            scene.house.submit(.withdrawCorrection(id, of: House.handle("friend")), by: scene.friend)
                == .failure(.notFound))
        let spot = try Coordinate(latitude: 1, longitude: 2)
        #expect(Self.make(&scene, .rename(spot, "")) == nil)
        #expect(Self.make(&scene, .samePlace(spot, with: spot)) == nil)
        #expect(Self.make(&scene, .rename(spot, String(repeating: "x", count: 65))) == nil)
        for _ in 2...Limits.correctionsPerPerson { #expect(Self.make(&scene) != nil) }
        #expect(Self.make(&scene) == nil)
    }
}
