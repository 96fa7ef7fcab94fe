import TestSupport
import Testing

@testable import Whereabouts

/// Where a new person lives, and what a shard takes over from the directory.
@Suite struct ShardDecisionTests {
    private static func shard(_ number: Int64) throws -> ShardNumber { try #require(ShardNumber(rawValue: number)) }

    private static let directory = Identifier128(high: 1, low: 2)
    private static let request = Identifier128(high: 3, low: 4)

    private static func item(_ event: Event, _ stream: StreamID) -> DirectoryFacts.Item {
        DirectoryFacts.Item(event: event, stream: stream, actor: .operator, correlation: request)
    }

    private static func added(_ number: Int64, _ handle: String) -> DirectoryFacts.Item {
        let person = PersonID(rawValue: number)
        return item(.personAdded(person, handle: .open(House.handle(handle))), .audit(person))
    }

    private static func facts(
        _ items: [DirectoryFacts.Item], after: Int64 = 0, upTo: Int64 = 10, of directory: Identifier128 = directory
    ) -> Command {
        .followDirectory(DirectoryFacts(directory: directory, after: after, upTo: upTo, items: items))
    }

    /// Shard 2, with two people of whom the first lives there.
    private static func house() throws -> House {
        var house = House()
        _ = try house.submit(.foundShard(try shard(2)), by: .house).get()
        let items = [
            added(2, "anna"), item(.personPlaced(PersonID(rawValue: 2), try shard(2)), .house), added(3, "ben"),
            item(.personPlaced(PersonID(rawValue: 3), try shard(1)), .house),
        ]
        _ = try house.submit(facts(items), by: .house).get()
        return house
    }

    @Test func `people come to the shard with the fewest, and the numbers of shards never meet`() throws {
        var house = House()
        let admin = house.token(for: .operator, .ofOperator, by: .house)
        let shards = [try Self.shard(1), try Self.shard(2)]
        for handle in ["anna", "ben", "cleo"] {
            _ = try house.submit(.addPerson(House.handle(handle), among: shards), by: admin).get()
        }
        #expect(house.standing.peopleOfShards == [shards[0]: 2, shards[1]: 1])
        #expect(try Self.house().standing.tokens.next == 2 << 40 + 1)
        #expect(ShardNumber(ofID: 2 << 40 + 1) == shards[1] && ShardNumber(ofID: 5000) == nil)
        #expect(ShardNumber(rawValue: 0) == nil && ShardNumber(rawValue: 256) == nil)
    }

    @Test func `facts keep their ids, actors and requests, and are taken once`() throws {
        var house = try Self.house()
        #expect(house.standing.places.followed == 10 && house.standing.places.directory == Self.directory)
        let added = try #require(house.log.first { $0.event.kind == .personAdded })
        #expect(added.actor == .operator && added.correlation == Self.request)
        let count = house.log.count
        for wrong in [
            Self.facts([Self.added(2, "dora")], after: 10, upTo: 11),
            Self.facts([Self.added(4, "ben")], after: 10, upTo: 11),
            Self.facts([], after: 9, upTo: 11), Self.facts([], after: 10, upTo: 9),
            Self.facts([Self.added(4, "dora")], after: 10, upTo: 11, of: Self.request),
            Self.facts([Self.added(2 << 40 + 7, "dora")], after: 10, upTo: 11),
            Self.facts([Self.item(.deviceRemoved(DeviceID(rawValue: 9)), .house)], after: 10, upTo: 11),
            Self.facts(
                [
                    Self.added(4, "dora"),
                    Self.item(.personErased(PersonID(rawValue: 2)), .audit(PersonID(rawValue: 2))),
                ],
                after: 10, upTo: 12),
        ] {
            guard case .failure = house.submit(wrong, by: .house) else {
                Issue.record("A fact that does not fit was taken.")
                continue
            }
        }
        #expect(house.log.count == count)
        _ = try house.submit(Self.facts([Self.added(4, "dora")], after: 10, upTo: 11), by: .house).get()
        #expect(house.standing.person(House.handle("dora"))?.rawValue == 4)
    }

    @Test func `an erasure reaches a shard that knows the person, and is nothing to one that does not`() throws {
        var house = try Self.house()
        let anna = PersonID(rawValue: 2)
        _ = try house.submit(
            Self.facts([Self.item(.personErased(anna), .audit(anna))], after: 10, upTo: 11), by: .house
        )
        .get()
        #expect(house.standing.persons[anna]?.isErased == true)
        let count = house.log.count
        let stranger = PersonID(rawValue: 900)
        _ = try house.submit(
            Self.facts([Self.item(.personErased(stranger), .audit(stranger))], after: 11, upTo: 12), by: .house
        ).get()
        #expect(house.log[count...].map(\.event.kind) == [.directoryFollowed])
    }

    @Test func `someone who lives in another shard is no such person, and a log with tokens becomes no shard`() throws {
        let house = try Self.house()
        let now = house.standing.lastRecordedAt
        for (handle, isHere) in [("anna", true), ("ben", false)] {
            let permit = house.standing.authorize(
                Caller(principal: .operator, scopes: .ofOperator, token: nil), to: .manage, about: House.handle(handle),
                at: now)
            if case .success = permit { #expect(isHere) } else { #expect(!isHere) }
        }
        var other = House()
        _ = other.token(for: .operator, .ofOperator, by: .house)
        guard case .failure(.invalid) = other.submit(.foundShard(try Self.shard(1)), by: .house) else {
            Issue.record("A log with tokens became a shard's.")
            return
        }
    }

    @Test func `the bytes of sizes are read back, and no others`() throws {
        var random = AnyEvent(random: SplitMix(11))
        for _ in 0..<50 {
            let sizes = random.shardSizes()
            #expect(ShardSizes(bytes: sizes.bytes) == sizes)
            #expect(ShardSizes(bytes: Array(sizes.bytes.dropLast())) == nil)
            #expect(ShardSizes(bytes: sizes.bytes + sizes.bytes) == nil)
        }
        #expect(ShardSizes(bytes: [UInt8](repeating: 0, count: 72)) == nil)
    }
}
