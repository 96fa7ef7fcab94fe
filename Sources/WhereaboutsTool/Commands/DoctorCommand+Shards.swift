import HTTPServer
import JSON
import Log
import Reactors
import Replies
import Whereabouts
import WhereaboutsClient

/// The other processes of a house with shards.
extension DoctorCommand {
    /// Whether the shards of a directory answer, how far they have followed and what is witnessed of them; or whether the
    /// directory of a shard answers. None in a house with one log.
    static func shards(_ configuration: ServiceConfiguration, _ path: String) -> [Finding] {
        switch configuration.sharding {
        case nil: return []
        case .shard(_, let directory, let key):
            return [other("directory", "\(directory)", key.caFile, more: "")]
        case .directory(let addresses, let key, _):
            let figures = figures(configuration, path)
            return addresses.sorted { $0.key < $1.key }.map { shard, address in
                var more = ""
                if let followed = figures["whereabouts_shard_followed_event", shard.rawValue],
                    let witnessed = figures["whereabouts_shard_witnessed_event", shard.rawValue]
                {
                    more = "; has followed to event \(followed), witnessed to its event \(witnessed)"
                }
                return other("shard \(shard.rawValue)", "\(address)", key.caFile, more: more)
            }
        }
    }

    /// What a process says of itself.
    private static func other(_ name: String, _ address: String, _ caFile: String?, more: String) -> Finding {
        guard let transport = WireTransport(address, trustFile: caFile, seconds: 5),
            let answer = try? transport.answer(to: HTTPRequest(method: "GET", path: "/readyz"))
        else { return .wrong(name, "\(address) does not answer\(more)") }
        if answer.status == 200 { return .good(name, "\(address) is ready\(more)") }
        let problem = try? JSONDocument.parse(answer.body).root.read(ProblemReply.self)
        return .wrong(name, "\(address): \(problem?.detail ?? "status \(answer.status)")\(more)")
    }

    /// The metrics of shards of the directory's own process; none if it does not run.
    private static func figures(_ configuration: ServiceConfiguration, _ path: String) -> ShardMetrics {
        guard let token = DataDirectory.read(path + "/admin.token", atMost: 256),
            let transport = WireTransport("http://\(configuration.listen)", seconds: 5),
            let answer = try? transport.answer(
                to: HTTPRequest(
                    method: "GET", path: "/metrics",
                    headers: [
                        (
                            "Authorization",
                            "Bearer \(String(decoding: token, as: UTF8.self).filter { !$0.isWhitespace })"
                        )
                    ]))
        else { return ShardMetrics(text: "") }
        return ShardMetrics(text: String(decoding: answer.body, as: UTF8.self))
    }

    /// Samples of metrics with the label `shard` alone.
    private struct ShardMetrics {
        private var values: [String: Int] = [:]

        init(text: String) {
            for line in text.split(separator: "\n") where line.hasPrefix("whereabouts_shard_") {
                let parts = line.split(separator: " ")
                if parts.count == 2, let value = Double(parts[1]), value.isFinite {
                    values[String(parts[0])] = Int(value)
                }
            }
        }

        subscript(name: String, shard: Int64) -> Int? { values["\(name){shard=\"\(shard)\"}"] }
    }
}
