import HTTPInterface
import Threading
import Whereabouts

extension MetricsEndpoint {
    /// What a directory knows of its shards, or a shard of its directory. Nothing in a house without shards.
    static func write(_ figures: ShardFigures, witnessed: ShardSizes, into text: inout MetricsText) {
        if let seconds = figures.secondsSinceDirectory {
            text.gauge(
                "whereabouts_directory_heard_seconds", "Time since the shard had everything that the directory had.",
                [([:], seconds)])
        }
        let all = figures.all
        if all.isEmpty { return }
        func samples(_ value: (ShardFigures.State) -> Double) -> [(MetricsText.Labels, Double)] {
            all.map { (["shard": "\($0.shard.rawValue)"], value($0.state)) }
        }
        text.gauge(
            "whereabouts_shard_heard_seconds", "Time since the last message of a shard.",
            samples { state in state.heardAt.map { MonotonicClock.seconds - $0 } ?? .infinity })
        text.gauge(
            "whereabouts_shard_followed_event", "The event of the directory up to which a shard has all facts.",
            samples { Double($0.followed) })
        text.gauge(
            "whereabouts_shard_witnessed_event", "The size of a shard's log that the directory's log records.",
            all.map { (["shard": "\($0.shard.rawValue)"], Double(witnessed[$0.shard]?.size ?? 0)) })
        text.gauge(
            "whereabouts_shard_refused",
            "1 if a shard gets no requests, because its log does not continue the one known.",
            samples { $0.trouble == nil ? 0 : 1 })
        text.counter(
            "whereabouts_shard_passed_on_total", "Requests that were passed on to a shard, by whether an answer came.",
            all.flatMap { one -> [(MetricsText.Labels, Double)] in
                let shard = "\(one.shard.rawValue)"
                return [
                    (["shard": shard, "outcome": "answered"], Double(one.state.passedOn - one.state.unanswered)),
                    (["shard": shard, "outcome": "unanswered"], Double(one.state.unanswered)),
                ]
            })
    }
}
