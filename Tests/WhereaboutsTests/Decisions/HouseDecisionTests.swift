import Geodesy
import Testing
import Whereabouts

@Suite struct HouseDecisionTests {
    private static let scopes: [Scopes] = [.report, .query, .audit, .manage, .operate]

    /// Every set of scopes, for a person's token and a device's, from the person and from the operator.
    @Test func `nobody makes a token that may do more than its holder's kind`() {
        var scene = Scene()
        let holders: [(holder: TokenHolder, allowed: Scopes)] = [
            (.person(House.handle("walker")), [.query, .audit, .manage]), (.device(House.handle("phone")), .report),
        ]
        var made: UInt64 = 0
        for (holder, allowed) in holders {
            for bits in 1..<1 << Self.scopes.count {
                let wanted = Scopes(Self.scopes.indices.filter { bits >> $0 & 1 == 1 }.map { Self.scopes[$0] })
                for caller in [scene.walker, scene.admin] {
                    made += 1
                    let reply = scene.house.submit(
                        .issueToken(for: holder, scopes: wanted, hash: Hash256(words: (made, 8, 8, 8)), until: nil),
                        by: caller)
                    let isMade = if case .success = reply { true } else { false }
                    #expect(isMade == allowed.isSuperset(of: wanted), "\(wanted.words)")
                }
            }
        }
    }

    @Test func `a person has one region of a name, and others may use it too`() throws {
        var scene = Scene()
        let friend = House.handle("friend")
        func isTaken(_ reply: Result<CommandReply, Refusal>) -> Bool {
            if case .failure(.alreadyExists) = reply { true } else { false }
        }
        _ = try scene.house.submit(.addRegion(AnyRegion.home, of: House.handle("walker")), by: scene.walker).get()
        let elsewhere = Region(
            identifier: "home",
            circle: try Circle(center: try Coordinate(latitude: -10, longitude: 100), radiusMeters: 500))
        for region in [AnyRegion.home, elsewhere] {
            for caller in [scene.walker, scene.admin] {
                #expect(isTaken(scene.house.submit(.addRegion(region, of: House.handle("walker")), by: caller)))
            }
        }
        _ = try scene.house.submit(.addRegion(elsewhere, of: friend), by: scene.friend).get()
        let removal = Command.removeRegion(identifier: "home", of: House.handle("walker"))
        _ = try scene.house.submit(removal, by: scene.walker).get()
        _ = try scene.house.submit(.addRegion(elsewhere, of: House.handle("walker")), by: scene.walker).get()
    }
}
