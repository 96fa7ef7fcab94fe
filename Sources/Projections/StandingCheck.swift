package import Log
import Whereabouts

/// Compares the standing that the writer uses with a refold from zero.
package enum StandingCheck {
    /// The outcome, for the report.
    package struct Finding {
        /// The number of the last event folded.
        package let place: Int64
        /// The sum of the hashes of the standing's entries.
        package let fingerprint: Fingerprint
        /// A ``RefoldCheck/Result``, or the error that prevented the refold.
        package let refold: String
    }

    /// How long the newest decisions may take to become durable.
    private static let longestWaitMilliseconds = 10_000

    /// Compares the present standing. Cost: reading and folding the whole log, and the memory of a second standing.
    package static func run(_ log: EventLog, _ reader: LogReader) -> Finding {
        let live = log.standingCopy()
        let fingerprint = fingerprint(of: live)
        var refolded = Standing()
        var heads = StreamHeads()
        let refold: String
        do throws(LogError) {
            if live.place > log.head {
                _ = log.waitForHead(after: live.place - 1, milliseconds: longestWaitMilliseconds)
            }
            try EventLog.catchUp(&refolded, &heads, to: live.place, reader)
            let result: RefoldCheck.Result =
                refolded.place == live.place && Self.fingerprint(of: refolded) == fingerprint ? .equal : .different
            refold = result.rawValue
        } catch { refold = "\(error)" }
        return Finding(place: live.place, fingerprint: fingerprint, refold: refold)
    }

    /// The sum over the entries of a standing.
    private static func fingerprint(of standing: Standing) -> Fingerprint {
        let hasher = RowHasher()
        var sum = Fingerprint()
        standing.forEachEntry { sum.add(hasher.hash($0)) }
        return sum
    }
}
