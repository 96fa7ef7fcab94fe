import HTTPServer
import JSON
import PushStandIn
import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Log
@testable import Posting
@testable import Projections
@testable import Reactors
@testable import Service
@testable import Shards
@testable import Tables

/// A house with shards on this machine: the directory and its shards, each with a data directory and a port of its own.
final class ShardScene {
    let clock: HouseClock
    let directory: ServiceUnderTest
    /// By their numbers, from 1 on.
    let shards: [ServiceUnderTest]
    private let folder = TemporaryFolder()
    private let ports: [ReservedPort]

    /// - Parameter standIn: where the shards' pushes go; none are sent without it.
    init(shards count: Int = 2, clock: HouseClock = .running, standIn: PushStandIn? = nil) throws {
        self.clock = clock
        let keyFile = folder.file("shards.key")
        try DataDirectory.writePrivate(Array(String(repeating: "5a", count: 32).utf8), to: keyFile)
        let ports = (0...count).map { _ in ReservedPort() }
        self.ports = ports
        func origin(_ index: Int) throws -> Origin { try #require(Origin("http://127.0.0.1:\(ports[index].number)")) }
        let key = ServiceConfiguration.SharedKey(file: keyFile)
        var addresses: [ShardNumber: Origin] = [:]
        for index in 1...count { addresses[try #require(ShardNumber(rawValue: Int64(index)))] = try origin(index) }
        directory = try ServiceUnderTest(clock: clock) {
            $0.sharding = .directory(shards: addresses, key, witnessSeconds: 86_400)
        }
        let place = try origin(0)
        shards = try addresses.keys.sorted().map { number in
            try ServiceUnderTest(clock: clock) {
                $0.sharding = .shard(number, directory: place, key)
                if let standIn { $0.push = [ServiceUnderTest.push(over: standIn)] }
            }
        }
        for (index, shard) in shards.enumerated() { try shard.listen(at: ports[index + 1].number) }
        try directory.listen(at: ports[0].number)
        try settle()
    }

    deinit {
        directory.stop()
        for shard in shards { shard.stop() }
    }

    func number(_ index: Int) throws -> ShardNumber { try #require(ShardNumber(rawValue: Int64(index))) }

    /// Waits until the shards that run have the directory's facts, and all tables have all events.
    func settle(_ running: [Int]? = nil) throws {
        let running = running ?? Array(1...shards.count)
        let head = directory.service.log.head
        for index in running {
            let figures = try #require(directory.service.shardFigures)
            let number = try number(index)
            try eventually("shard \(index) to follow") {
                figures[number].followed >= head && figures[number].heardAt != nil
            }
        }
        for house in [directory] + running.map({ shards[$0 - 1] }) {
            try #require(
                house.service.host.wait(
                    for: house.service.log.head, in: ProjectionKind.all.map(\.name),
                    milliseconds: patienceMilliseconds))
        }
    }

    /// Asks the house, and before a read waits until the tables have what was written.
    @discardableResult
    func send(
        _ method: String, _ target: String, as token: String?, _ body: String = "", headers: [(String, String)] = []
    ) -> Answer {
        if method == "GET" {
            for shard in shards where shard.isRunning {
                _ = shard.service.host.wait(
                    for: shard.service.log.head, in: ProjectionKind.all.map(\.name), milliseconds: 3000)
            }
        }
        return directory.send(method, target, as: token, body, headers: headers)
    }

    @discardableResult
    func manage(_ method: String, _ target: String, _ body: String = "") -> Answer {
        let answer = send(method, target, as: directory.operatorToken, body)
        #expect((200..<300).contains(answer.status), "\(method) \(target): \(answer.text)")
        return answer
    }

    /// Adds a person to a shard. Returns a token with all scopes.
    func addPerson(_ handle: String, in shard: Int) throws -> String {
        manage("POST", "/v1/people", #"{"handle":"\#(handle)","shard":\#(shard)}"#)
        return try directory.token(of: handle)
    }

    /// Reports a fix of a device, now.
    @discardableResult
    func report(_ key: String, latitude: Double = 48.2, longitude: Double = 16.37, answering: String? = nil) -> Answer {
        let query = answering.map { #","answering":"\#($0)""# } ?? ""
        return send(
            "POST", "/v1/fixes", as: key,
            #"{"timestamp":\#(Double(clock.now.milliseconds) / 1000),"latitude":\#(latitude),"longitude":\#(longitude),"horizontalAccuracy":8\#(query)}"#
        )
    }

    /// The events of a shard of these kinds.
    func events(_ shard: Int, _ kinds: EventKind...) throws -> [RecordedEvent] {
        try shards[shard - 1].events().filter { kinds.contains($0.event.kind) }
    }
}

extension ServiceUnderTest {
    /// Whether the service was not stopped.
    var isRunning: Bool { runningService != nil }
}
