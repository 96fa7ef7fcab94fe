package import Answers
import Cryptography
package import HTTPInterface
import HTTPServer
import Log
import Readers
import Synchronization
import Threading
import Transparency
package import Whereabouts

/// The directory's side: gives shards the facts of the log, checks their logs, and holds the answers to its own changes until
/// the shards have them.
///
/// One thread waits for the log and for the time; messages and answers wait without a thread each.
package final class DirectoryLoop: Sendable {
    /// A shard's message that waits for facts.
    private struct Asking {
        var request: FactsRequest
        /// How far the log was searched.
        var searched: Int64
        let deadline: Double
        let respond: @Sendable (HTTPResponse) -> Void
    }

    /// The answer to a change that waits for the shards.
    private struct Held {
        let number: Int64
        let deadline: Double
        let respond: @Sendable (_ behind: [ShardNumber]) -> Void
    }

    private struct State {
        var asking: [ShardNumber: Asking] = [:]
        var held: [Held] = []
        /// When sizes were recorded last, on the monotonic clock; `nil` if it is due.
        var witnessedAt: Double?
        var isStopping = false
    }

    package let shards: [ShardNumber]
    package let figures: ShardFigures
    private let decisions: Decisions
    private let answers: AnswerPool
    private let witnessSeconds: Double
    private let state = Monitor(State())
    private let thread = Mutex<WorkerThread?>(nil)

    /// How long a message of a shard waits for facts.
    static let askingSeconds = 10.0
    /// How long the answer to a change waits for the shards.
    package static let heldSeconds = 2.0
    /// A shard that has not been heard of for so long is not waited for.
    static let silentSeconds = 15.0
    /// The most answers that wait; further ones leave at once.
    private static let heldMax = 4096
    private static let tickMilliseconds = 50

    package init(
        _ shards: [ShardNumber], decisions: Decisions, answers: AnswerPool, figures: ShardFigures,
        witnessSeconds: Int64
    ) {
        (self.shards, self.decisions, self.answers, self.figures) = (shards, decisions, answers, figures)
        self.witnessSeconds = Double(witnessSeconds)
    }

    /// Starts the thread.
    package func start() { thread.withLock { $0 = WorkerThread { self.run() } } }

    /// Ends the thread. Waiting answers leave.
    package func stop() {
        state.change { $0.isStopping = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    // MARK: The thread

    private func run() {
        var head: Int64 = 0
        while !state.read({ $0.isStopping }) {
            head = decisions.log.waitForHead(after: head, milliseconds: Self.tickMilliseconds)
            turn(head)
            let now = MonotonicClock.seconds
            let isDue = state.change { state in
                if let last = state.witnessedAt, now - last < witnessSeconds { return false }
                state.witnessedAt = now
                return true
            }
            if isDue { witness() }
        }
        let (asking, held) = state.change { state in
            defer { (state.asking, state.held) = ([:], []) }
            return (state.asking, state.held)
        }
        for one in held { one.respond([]) }
        for one in asking.values { one.respond(Problem.busy(1).response) }
    }

    /// Answers the messages for which there is something new, or whose time is over, and lets answers go.
    private func turn(_ head: Int64) {
        let now = MonotonicClock.seconds
        let due = state.change { state -> [Asking] in
            let due = state.asking.filter { $0.value.searched < head || $0.value.deadline <= now }
            for shard in due.keys { state.asking[shard] = nil }
            return Array(due.values)
        }
        for asking in due {
            let isTaken = answers.submit(for: .house) { [self] context in search(asking, upTo: head, context) }
            if !isTaken { asking.respond(Problem.busy(1).response) }
        }
        release(now)
    }

    /// Lets the answers go whose changes the shards have, or whose time is over.
    private func release(_ now: Double) {
        let followed = figures.all.filter { one in
            one.state.trouble == nil && one.state.heardAt.map { now - $0 < Self.silentSeconds } ?? false
        }
        let silent = shards.filter { shard in !followed.contains { $0.shard == shard } }
        let going = state.change { state -> [(Held, [ShardNumber])] in
            guard !state.held.isEmpty else { return [] }
            var going: [(Held, [ShardNumber])] = []
            state.held.removeAll { held in
                let behind = followed.filter { $0.state.followed < held.number }.map(\.shard)
                guard behind.isEmpty || held.deadline <= now else { return false }
                going.append((held, (behind + silent).sorted()))
                return true
            }
            return going
        }
        for (held, behind) in going { held.respond(behind) }
    }

    /// Calls `respond` once the shards that can be reached have the log up to `number`, or after ``heldSeconds``; with the
    /// shards that do not have it then.
    package func hold(_ number: Int64, respond: @escaping @Sendable (_ behind: [ShardNumber]) -> Void) {
        let held = Held(number: number, deadline: MonotonicClock.seconds + Self.heldSeconds, respond: respond)
        let isHeld = state.change { state in
            guard !state.isStopping, state.held.count < Self.heldMax else { return false }
            state.held.append(held)
            return true
        }
        if isHeld { release(MonotonicClock.seconds) } else { respond(shards) }
    }

    // MARK: Messages

    /// Takes a message of a shard, whose seal was good.
    func take(_ request: FactsRequest, respond: @escaping @Sendable (HTTPResponse) -> Void) {
        guard shards.contains(request.shard) else {
            return respond(Self.refusal("config.json of the directory names no shard \(request.shard.rawValue)."))
        }
        let outcome = check(request)
        if case .refused(let trouble) = outcome {
            if figures[request.shard].trouble != trouble {
                Diagnostics.fault("shard.refused", "Shard \(request.shard.rawValue) is refused: \(trouble)")
            }
            figures.change(request.shard) { $0.trouble = trouble }
            return respond(Self.refusal(trouble))
        }
        let now = MonotonicClock.seconds
        figures.change(request.shard) { state in
            (state.heardAt, state.followed) = (now, request.after)
            if case .checked(let size) = outcome { (state.checked, state.trouble) = (size, nil) }
        }
        // The first size of a shard, or of its new epoch, is recorded at once.
        if case .checked(let size) = outcome,
            decisions.log.withStanding({ $0.places.witnessed[request.shard]?.epoch != size.epoch })
        {
            state.change { $0.witnessedAt = nil }
        }
        // A shard that has to prove from another size learns it at once.
        var deadline = now + Self.askingSeconds
        if case .unproven = outcome { deadline = now }
        let asking = Asking(request: request, searched: request.after, deadline: deadline, respond: respond)
        // Of two processes of one shard, the newer one is answered.
        let former = state.change { state in state.asking.updateValue(asking, forKey: request.shard) }
        former?.respond(Problem.busy(1).response)
        release(now)
    }

    static func refusal(_ sentence: String) -> HTTPResponse { Problem(409, "Shard refused", sentence).response }

    /// Whether the log of a shard is the one that the directory has witnessed.
    private enum Outcome {
        /// The message says nothing about the log.
        case unasked
        /// The message proves from another size than the one that is known.
        case unproven
        case checked(ShardSize)
        case refused(String)
    }

    /// Compares the log of a shard with what the directory has witnessed.
    private func check(_ request: FactsRequest) -> Outcome {
        let number = request.shard.rawValue
        let known = figures[request.shard].checked ?? decisions.log.withStanding { $0.places.witnessed[request.shard] }
        if let known {
            if known.log != request.log {
                return .refused(
                    "Shard \(number) has another log than the one that was witnessed up to event \(known.size).")
            }
            if request.epoch < known.epoch {
                return .refused(
                    "The log of shard \(number) is in epoch \(request.epoch), and epoch \(known.epoch) was witnessed.")
            }
        }
        if decisions.log.head < request.after {
            return .refused(
                "The directory's log ends at event \(decisions.log.head), and shard \(number) has followed it up to event \(request.after): the directory has lost events."
            )
        }
        guard let growth = request.growth else { return .unasked }
        if let known, known.epoch == request.epoch {
            if growth.size < known.size {
                return .refused(
                    "The log of shard \(number) was cut: it ends at event \(growth.size), and event \(known.size) was witnessed."
                )
            }
            let isSame = growth.size == known.size && growth.root == known.root
            let continues =
                growth.from == known.size
                && MerkleProof.verifyConsistency(
                    from: known.size, root: known.root.digest, to: growth.size, root: growth.root.digest,
                    proof: growth.proof.map(\.digest), SHA256())
            // A proof from another size says nothing: the shard gets the size with the answer.
            if !isSame, !continues {
                if growth.from != known.size { return .unproven }
                return .refused(
                    "The log of shard \(number) was rewritten: it does not begin with the \(known.size) events that were witnessed."
                )
            }
        } else if let known {
            Diagnostics.note(
                "shard.epoch",
                "Shard \(number) goes on in epoch \(request.epoch) at event \(growth.size); epoch \(known.epoch) was witnessed up to event \(known.size)."
            )
        }
        return .checked(
            ShardSize(
                shard: request.shard, log: request.log, epoch: request.epoch, size: growth.size, root: growth.root))
    }

    /// Looks for facts after the place of a message, and answers it or lets it wait on.
    private func search(_ asking: Asking, upTo head: Int64, _ context: AnswerContext) {
        var place = asking.searched
        var items: [DirectoryFacts.Item] = []
        do throws(LogError) {
            search: while place < head, items.count < FactsAnswer.itemsMax {
                let events = try context.reader.events(after: place, limit: Int(min(1000, head - place)))
                guard !events.isEmpty else { break }
                let found = decisions.log.withStanding { standing in
                    events.map { (number: $0.event.number, item: Self.item($0.event, standing)) }
                }
                for (number, item) in found {
                    if let item {
                        let isErasure = item.event.kind == .personErased
                        // A message with an erasure has no other fact: the shard first destroys the keys.
                        if isErasure, !items.isEmpty { break search }
                        items.append(item)
                        place = number
                        if isErasure || items.count == FactsAnswer.itemsMax { break search }
                    } else {
                        place = number
                    }
                }
            }
        } catch { return asking.respond(Problem(500, "Damaged", "\(error) Run `verify`.").response) }
        let isOver = MonotonicClock.seconds >= asking.deadline
        if items.isEmpty, !isOver {
            var waiting = asking
            waiting.searched = place
            let isAlone = state.change { state in
                if state.isStopping || state.asking[asking.request.shard] != nil { return false }
                state.asking[asking.request.shard] = waiting
                return true
            }
            // Without a fact in between, the shard has everything up to here.
            if isAlone {
                return figures.change(asking.request.shard) { $0.followed = max($0.followed, place) }
            }
        }
        let facts = DirectoryFacts(
            directory: decisions.log.id, after: asking.request.after, upTo: place, items: items)
        let known =
            figures[asking.request.shard].checked
            ?? decisions.log.withStanding { $0.places.witnessed[asking.request.shard] }
        let size = known.map { $0.epoch == asking.request.epoch ? $0.size : 0 } ?? 0
        asking.respond(.json(FactsAnswer(facts: facts, witnessed: size).bytes))
    }

    /// What shards take over of an event; `nil` if nothing. Of an erased person, they only get the erasure.
    private static func item(_ recorded: RecordedEvent, _ standing: borrowing Standing) -> DirectoryFacts.Item? {
        guard DirectoryFacts.kinds.contains(recorded.event.kind) else { return nil }
        var person = recorded.stream.person
        switch recorded.event {
        case .personErased: person = nil
        case .personPlaced(let placed, _): person = placed
        default: break
        }
        if let person, standing.persons[person]?.isErased != false { return nil }
        return DirectoryFacts.Item(
            event: recorded.event, stream: recorded.stream, actor: recorded.actor, correlation: recorded.correlation)
    }

    // MARK: The root of roots

    /// Records the sizes of the shards' logs that were checked and are not in the log yet.
    package func witness() {
        let known = decisions.log.withStanding { $0.places.witnessed }
        let new = figures.all.compactMap { one in one.state.checked }.filter { known[$0.shard] != $0 }
        if new.isEmpty { return }
        do throws(AppendFailure) {
            _ = try decisions.log.appendAndWait(
                .witnessShards(ShardSizes(new)), by: .house, correlation: .random())
        } catch { Diagnostics.note("shard.unwitnessed", "The sizes of the shards could not be recorded; tried again.") }
    }
}
