import Answers
import Cryptography
import Glibc
package import HTTPInterface
import HTTPServer
import Log
import Reactors
import Readers
package import Shards
import Whereabouts

// The service as the directory of a house with shards, or as one of its shards.

/// The part of a service in a house with shards.
enum RunningSharding: Sendable {
    /// The directory: it gives shards its facts, and passes requests on.
    case directory(DirectoryLoop, EdgeDoor)
    /// A shard: it follows the directory.
    case shard(DirectoryFollower, ShardDoor)

    func handle(_ request: HTTPRequest, respond: @escaping @Sendable (HTTPResponse) -> Void) {
        switch self {
        case .directory(_, let edge): edge.handle(request, respond: respond)
        case .shard(_, let door): door.handle(request, respond: respond)
        }
    }

    /// Ends the messages and requests under way.
    func stop() {
        switch self {
        case .directory(let loop, let edge):
            loop.stop()
            edge.stop()
        case .shard(let follower, _): follower.stop()
        }
    }
}

/// What the service makes before its door: the loop of a directory, whose route is one of the door's.
struct ShardingParts {
    let loop: DirectoryLoop?
    let seal: ReaderSeal?
    let routes: [Route]

    init(
        _ sharding: ServiceConfiguration.Sharding?, _ decisions: Decisions, _ answers: AnswerPool,
        _ figures: ShardFigures
    ) throws(LogError) {
        switch sharding {
        case nil: (loop, seal, routes) = (nil, nil, [])
        case .directory(_, let key, let seconds):
            let seal = try Service.seal(key)
            let loop = DirectoryLoop(
                decisions.shards, decisions: decisions, answers: answers, figures: figures,
                witnessSeconds: seconds)
            self.loop = loop
            self.seal = seal
            routes = [FactsEndpoint(decisions: decisions, loop: loop, seal: seal).route]
        case .shard(_, _, let key): (loop, seal, routes) = (nil, try Service.seal(key), [])
        }
    }

    /// Starts the threads.
    func start(
        _ sharding: ServiceConfiguration.Sharding?, _ door: Door, _ decisions: Decisions, _ answers: AnswerPool,
        _ houseLog: HouseLog, _ figures: ShardFigures, whenErased: @escaping @Sendable () -> Void
    ) -> RunningSharding? {
        guard let sharding, let seal else { return nil }
        // The links count for the metrics of readers, which a house with shards does not have.
        let readers = ReaderFigures()
        switch sharding {
        case .directory(let addresses, let key, _):
            guard let loop else { return nil }
            let links = addresses.mapValues {
                WriterLink([$0], trustFile: key.caFile, seal: seal, figures: readers, clock: decisions.clock)
            }
            loop.start()
            return .directory(loop, EdgeDoor(door: door, loop: loop, links: links, log: decisions.log))
        case .shard(let number, let directory, let key):
            let link = WriterLink(
                [directory], trustFile: key.caFile, seal: seal, figures: readers, clock: decisions.clock)
            let follower = DirectoryFollower(
                number, link: link, decisions: decisions, houseLog: houseLog, answers: answers, figures: figures,
                whenErased: whenErased)
            follower.start()
            return .shard(follower, ShardDoor(door: door, follower: follower))
        }
    }
}

extension Service {
    /// The seal of messages between the directory and its shards.
    static func seal(_ key: ServiceConfiguration.SharedKey) throws(LogError) -> ReaderSeal {
        guard let bytes = DataDirectory.read(key.file, atMost: 256) else { throw .file(path: key.file, errno: errno) }
        let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
        guard let key = Hex.decode(text), key.count == SymmetricKey.byteCount else {
            throw .otherLog(
                "The file of \"keyFile\" must have 64 hexadecimal digits, for example of `openssl rand -hex 32`.")
        }
        return ReaderSeal(under: SymmetricKey(bytes: key), for: FactsEndpoint.purpose)
    }

    /// Throws, and stops the log, if it is not that of the shard in the configuration. A new log becomes the shard's.
    static func checkShard(of log: EventLog, _ sharding: ServiceConfiguration.Sharding?) throws(LogError) {
        var wanted: ShardNumber?
        if case .shard(let number, _, _)? = sharding { wanted = number }
        let (own, hasShards) = log.withStanding { ($0.places.own, !$0.peopleOfShards.isEmpty) }
        let sentence: String
        switch (own, wanted) {
        case (nil, let wanted?):
            do throws(AppendFailure) {
                _ = try log.appendAndWait(.foundShard(wanted), by: .house, correlation: .random())
                return
            } catch {
                if case .fault(let fault) = error {
                    log.stop()
                    throw fault
                }
                sentence =
                    "This log has tokens or people already, so it cannot become that of shard \(wanted.rawValue)."
            }
        case (let own?, let wanted) where own != wanted:
            sentence =
                "This is the log of shard \(own.rawValue): give config.json \"shard\" with this number."
        case (nil, nil) where hasShards && sharding == nil:
            sentence =
                "This is the log of a directory, whose people live in shards: name them as \"shards\" in config.json."
        default: return
        }
        log.stop()
        throw .otherLog(sentence)
    }

    /// The shards of the directory, as `doctor` and the metrics show them; `nil` for another service.
    package var shardFigures: ShardFigures? {
        if case .directory(let loop, _)? = sharding { loop.figures } else { nil }
    }

    /// How a shard stands to its directory; `nil` for another service.
    package var directoryState: DirectoryFollower.State? {
        if case .shard(let follower, _)? = sharding { follower.now } else { nil }
    }

    /// Records the sizes of the shards' logs now.
    package func witnessShards() {
        if case .directory(let loop, _)? = sharding { loop.witness() }
    }
}
