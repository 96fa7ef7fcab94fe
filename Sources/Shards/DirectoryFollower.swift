package import Answers
import Cryptography
package import HTTPInterface
import JSON
import Log
package import Readers
import Synchronization
import Threading
package import Whereabouts

/// A shard's side: asks the directory for its facts and takes them over, on one thread.
package final class DirectoryFollower: Sendable {
    /// How the shard stands to the directory.
    package struct State: Sendable {
        /// When the directory's last good answer was asked for, on the monotonic clock.
        package var heardAt: Double?
        /// Why the directory refuses the shard, or the shard the directory; `nil` if neither does.
        package var trouble: String?
    }

    private let shard: ShardNumber
    private let link: WriterLink
    private let decisions: Decisions
    private let houseLog: HouseLog
    private let answers: AnswerPool
    private let figures: ShardFigures
    private let whenErased: @Sendable () -> Void
    private let state: Mutex<State>
    private let isStopping = Monitor(false)
    private let thread = Mutex<WorkerThread?>(nil)

    /// After so long without the directory, the shard only takes reports: a token may have been revoked.
    package static let silentSecondsMax = 60.0
    /// The pause after the directory could not be asked.
    private static let retryMilliseconds = 500
    /// How often the shard proves how its log has grown.
    private static let proveSeconds = 5.0
    /// Longer than the directory holds a message.
    private static let answerMilliseconds = 20_000

    /// - Parameter whenErased: Called after the keys of someone whom the directory has erased were destroyed here.
    package init(
        _ shard: ShardNumber, link: WriterLink, decisions: Decisions, houseLog: HouseLog, answers: AnswerPool,
        figures: ShardFigures, whenErased: @escaping @Sendable () -> Void
    ) {
        (self.shard, self.link, self.decisions) = (shard, link, decisions)
        (self.houseLog, self.answers, self.figures) = (houseLog, answers, figures)
        self.whenErased = whenErased
        // A start within the bound after a stop is nothing special: the log has the facts of then.
        state = Mutex(State(heardAt: MonotonicClock.seconds))
    }

    /// The state now.
    package var now: State { state.withLock { $0 } }

    /// Why the shard answers no requests but reports; `nil` if it does.
    package var problem: Problem? { Self.problem(now, at: MonotonicClock.seconds) }

    /// - Parameter now: Of the monotonic clock.
    static func problem(_ state: State, at now: Double) -> Problem? {
        if let trouble = state.trouble { return Problem(503, "Shard refused", trouble, retryAfterSeconds: 60) }
        if let heardAt = state.heardAt, now - heardAt <= silentSecondsMax { return nil }
        return Problem(
            503, "No directory", "The directory has not answered for a minute; send the same request again later.",
            retryAfterSeconds: 5)
    }

    /// Starts the thread.
    package func start() { thread.withLock { $0 = WorkerThread { self.run() } } }

    /// Ends the thread, and a message under way.
    package func stop() {
        isStopping.change { $0 = true }
        link.stop()
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    private func run() {
        var place = decisions.log.withStanding { $0.places.followed }
        var witnessed: Int64 = 0
        var provenAt: Double?
        var unproven = 0
        while !isStopping.read({ $0 }) {
            let asked = MonotonicClock.seconds
            var growth: FactsRequest.Growth?
            if provenAt.map({ asked - $0 >= Self.proveSeconds }) ?? true {
                growth = self.growth(since: witnessed)
                if growth != nil { provenAt = asked }
            }
            let request = FactsRequest(
                shard: shard, log: decisions.log.id, epoch: decisions.log.epoch, after: place, growth: growth)
            let answer = link.send(
                request.bytes, to: FactsEndpoint.path, milliseconds: Self.answerMilliseconds,
                atMost: FactsAnswer.bytesMax)
            if answer?.status == 200, let answer = answer.flatMap({ FactsAnswer($0.body, after: place) }) {
                if take(answer.facts) {
                    place = answer.facts.upTo
                    witnessed = answer.witnessed
                    // The first proof after a start is from the size that the directory names.
                    let isProven = growth?.size == witnessed
                    figures.noteDirectory(at: asked)
                    state.withLock { state in
                        state.heardAt = max(state.heardAt ?? asked, asked)
                        if isProven { state.trouble = nil }
                    }
                    if growth == nil || isProven {
                        unproven = 0
                        continue
                    }
                    (provenAt, unproven) = (nil, unproven + 1)
                    if unproven == 1 { continue }
                }
            } else if let answer, answer.status == 409 {
                note(
                    (try? JSONDocument.parse(answer.body).root["detail"]?.string) ?? "The directory refuses this shard."
                )
            }
            // The directory has not accepted the proof, so the next message has one again.
            provenAt = nil
            _ = isStopping.wait(milliseconds: Self.retryMilliseconds) { $0 ? true : nil }
        }
    }

    /// Takes facts over. An answer without facts makes no event.
    private func take(_ facts: DirectoryFacts) -> Bool {
        let known = decisions.log.withStanding { ($0.places.directory, $0.places.followed) }
        if let directory = known.0, directory != facts.directory || facts.upTo < known.1 {
            note("The directory has another log than the one that this shard has followed.")
            return false
        }
        if facts.items.isEmpty { return true }
        do throws(AppendFailure) {
            _ = try decisions.log.appendAndWait(.followDirectory(facts), by: .house, correlation: .random())
            if facts.items.contains(where: { $0.event.kind == .personErased }) { whenErased() }
            return true
        } catch {
            if case .refused(.invalid(let sentence)) = error { note(sentence) }
            return false
        }
    }

    private func note(_ trouble: String) {
        let isNew = state.withLock { state in
            defer { state.trouble = trouble }
            return state.trouble != trouble
        }
        if isNew { Diagnostics.fault("shard.trouble", trouble) }
    }

    /// The size and root of the log, with the proof since a size that the directory has witnessed; `nil` if it cannot be
    /// computed now.
    private func growth(since older: Int64) -> FactsRequest.Growth? {
        let done = Monitor<FactsRequest.Growth??>(nil)
        let isTaken = answers.submit(for: .house) { [houseLog] context in
            var growth: FactsRequest.Growth?
            if let (size, root, proof) = try? houseLog.growth(since: older, context), size > 0 {
                growth = FactsRequest.Growth(
                    size: size, root: Hash256(root), from: proof.isEmpty && size != older ? 0 : older,
                    proof: proof.map { Hash256($0) })
            }
            done.change { $0 = .some(growth) }
        }
        guard isTaken else { return nil }
        return done.wait(milliseconds: Self.answerMilliseconds) { $0 } ?? nil
    }
}
