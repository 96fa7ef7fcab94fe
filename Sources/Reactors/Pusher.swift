import LocationPush
package import Log
import Synchronization
import Threading
package import Whereabouts

/// Wakes the phones of queried people, and records the answers of APNs by commands.
///
/// It follows the standing: it takes every open query that this process has not pushed yet, so that a restart loses
/// none. The writer, which has the outcomes of earlier pushes, decides whether to wake a device now, later or not at
/// all. A push is sent after its event, and before each try the standing decides whether it is still wanted. A repeated
/// push has the same `apns-id`, which is derived from the query and the device.
package final class Pusher: Sendable {
    /// The result of a push, for the thread.
    private enum Ending {
        case accepted
        /// This process makes no further try.
        case failed
        /// The writer decides about the next try, at this time or at once.
        case open(notBefore: Timestamp?)
    }

    private struct State {
        /// The pushes that have ended since the thread looked last.
        var ended: [(query: QueryID, device: DeviceID, ending: Ending)] = []
        /// Commands that the log did not take because its queue was full; they must not be lost.
        var unrecorded: [(command: Command, query: QueryID)] = []
        /// Whether a device has registered a push token.
        var hasNewToken = false
        var isStopping = false

        /// The ended pushes, which the state then forgets.
        mutating func takeEnded() -> [(query: QueryID, device: DeviceID, ending: Ending)] {
            defer { ended = [] }
            return ended
        }

        /// The commands to submit again, which the state then forgets.
        mutating func takeUnrecorded() -> [(command: Command, query: QueryID)] {
            defer { unrecorded = [] }
            return unrecorded
        }
    }

    /// The length of a tick: how late a push that waits for a time may be.
    private static let idleMilliseconds = 100
    /// The queries decided in one turn, far fewer than the log's queue holds.
    private static let queriesAtOnce = 1000
    /// The pause before a push that found the sender's queue full is handed in again.
    private static let crowdedMilliseconds: Int64 = 1000

    private let state = Monitor(State())
    private let thread = Mutex<WorkerThread?>(nil)
    /// Submits the commands; its standing is what the thread follows.
    private let log: EventLog
    /// The senders, one line for each app and environment.
    private let apps: PushApps
    private let clock: @Sendable () -> Timestamp

    /// Starts the thread and subscribes to news of the standing: pushes that are no longer wanted, and new tokens.
    package init(log: EventLog, apps: PushApps, clock: @escaping @Sendable () -> Timestamp) {
        self.log = log
        self.apps = apps
        self.clock = clock
        log.notifyOfPushNews { [apps, state] news in
            if news.contains(.unwanted) { apps.reconsider() }
            if news.contains(.newToken) { state.change { $0.hasNewToken = true } }
        }
        thread.withLock { $0 = WorkerThread { [self] in run() } }
    }

    /// Ends the thread, then the senders, and records how their pushes ended. The log must still take commands.
    package func stop() {
        state.change { $0.isStopping = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
        // Waiting pushes end because the sender stops, and are recorded before the log closes.
        apps.stop()
        for item in state.change({ $0.takeUnrecorded() }) {
            _ = try? log.appendAndWait(item.command, by: .house, correlation: item.query)
        }
    }

    /// The devices of an open query that were ordered to be woken.
    private struct Taken {
        /// The devices whose push has not ended.
        var underWay: Set<DeviceID> = []
        /// The devices that the writer decides about again, and the times.
        var waiting: [DeviceID: Timestamp] = [:]

        var isDone: Bool { underWay.isEmpty && waiting.isEmpty }
    }

    /// The thread's state between turns. All of it can be derived from the standing again.
    private struct Round {
        /// Number of the newest question that was looked at.
        var asked: Int64 = 0
        /// To be decided about now, in the order asked.
        var fresh: [QueryID] = []
        /// Not decided about yet: they wait for the subject's word, or the log was busy.
        var undecided: Set<QueryID> = []
        /// The queries that wait for room in a sender, in the order asked.
        var crowded: [QueryID] = []
        /// The queries that wait until some device gets a token.
        var deviceless: Set<QueryID> = []
        /// The queries with a push under way or waiting.
        var taken: [QueryID: Taken] = [:]
    }

    /// The devices to decide about for one query.
    private struct Work {
        let query: QueryID
        let initiation: LocationQuery.Initiation
        let deadline: Timestamp
        var devices: [(id: DeviceID, token: Standing.PushToken)]
    }

    /// Takes new questions as they come. Everything that depends on time or on other events is examined once per tick,
    /// because there can be much of it.
    private func run() {
        let tick = Duration.milliseconds(Self.idleMilliseconds)
        var place: Int64 = 0
        var round = Round()
        var nextTick = ContinuousClock.now
        while !state.read({ $0.isStopping }) {
            if round.fresh.isEmpty { place = log.waitForHead(after: place, milliseconds: Self.idleMilliseconds) }
            var due = takeEnded(&round)
            if ContinuousClock.now >= nextTick {
                // A push that has just ended can be due in both.
                due.merge(lookThrough(&round)) { $0.union($1) }
                nextTick = .now + tick
            }
            let again = ask(again: due)
            let works = takeUp(&round)
            for (work, orders) in decide(works, leaving: &round.undecided) { push(work, orders, &round) }
            var missed: Set<QueryID> = []
            for (work, orders) in decide(again, leaving: &missed) { push(work, orders, &round) }
        }
    }

    // MARK: Taking up

    /// The next new queries and those that waited for room, with their devices; at most ``queriesAtOnce``. A query is
    /// taken up only if all its pushes fit into the senders' queues.
    private func takeUp(_ round: inout Round) -> [Work] {
        if !round.crowded.isEmpty, apps.hasRoom {
            let next = round.crowded.prefix(Self.queriesAtOnce)
            round.fresh = next + round.fresh
            round.crowded.removeFirst(next.count)
        }
        return log.withStanding { standing -> [Work] in
            round.fresh += standing.queries.asked(after: round.asked)
            round.asked = standing.place
            let next = round.fresh.prefix(Self.queriesAtOnce)
            round.fresh.removeFirst(next.count)
            var planned = 0
            return next.compactMap { query in
                guard let known = standing.queries[query], known.end == nil else { return nil }
                if known.awaitsConsent {
                    round.undecided.insert(query)
                    return nil
                }
                guard let work = work(query, standing) else { return nil }
                guard work.devices.allSatisfy({ apps.room(for: $0.token) >= planned + work.devices.count }) else {
                    round.crowded.append(query)
                    return nil
                }
                planned += work.devices.count
                return work
            }
        }
    }

    /// The work for a query: each device of the subject with a token of a configured app. `nil` if the query is not
    /// known any more.
    private func work(_ id: QueryID, _ standing: borrowing Standing) -> Work? {
        guard let query = standing.queries[id], let person = standing.persons[query.subject] else { return nil }
        var devices: [(id: DeviceID, token: Standing.PushToken)] = []
        for device in person.devices {
            guard let token = standing.devices[device]?.push.token, apps.line(for: token) != nil else { continue }
            devices.append((device, token))
        }
        // The query's remaining time counts, even if the house's clock was set since it was asked.
        let now = clock()
        let deadline = Timestamp(
            milliseconds: now.milliseconds + log.questions.left(of: id, query, at: now))
        return Work(query: id, initiation: query.initiation, deadline: deadline, devices: devices)
    }

    /// Drops queries that have ended, finds devices that have lost their token, and returns the pushes that are due
    /// again.
    private func lookThrough(_ round: inout Round) -> [QueryID: Set<DeviceID>] {
        let now = clock()
        for item in state.change({ $0.takeUnrecorded() }) { submit(item.command, item.query) }
        let hasNewToken = state.change { state in
            defer { state.hasNewToken = false }
            return state.hasNewToken
        }
        let (due, gone) = log.withStanding { standing in
            func isOpen(_ id: QueryID) -> Bool { standing.queries[id].map { $0.end == nil } ?? false }
            round.fresh += round.undecided.filter(isOpen)
            round.undecided = []
            if hasNewToken {
                round.fresh += round.deviceless.filter(isOpen)
                round.deviceless = []
            }
            round.taken = round.taken.filter { isOpen($0.key) }
            var due: [QueryID: Set<DeviceID>] = [:]
            var gone: [QueryID: [DeviceID]] = [:]
            for (id, taken) in round.taken {
                for (device, moment) in taken.waiting {
                    guard let known = standing.devices[device], let token = known.push.token else {
                        // A token that APNs refused, or that was removed, ends the wait of every query for its device.
                        gone[id, default: []].append(device)
                        continue
                    }
                    guard moment <= now, known.mayBeWoken, apps.room(for: token) > 0,
                        standing.isPushWanted(id, to: device, token, at: now), due.count < Self.queriesAtOnce
                    else { continue }
                    due[id, default: []].insert(device)
                }
            }
            return (due, gone)
        }
        for (query, devices) in gone {
            for device in devices { round.taken[query]?.waiting[device] = nil }
            closeIfDone(query, &round)
        }
        return due
    }

    /// The work for the queries that are still open, with only the devices that are due.
    private func ask(again due: [QueryID: Set<DeviceID>]) -> [Work] {
        if due.isEmpty { return [] }
        return log.withStanding { standing in
            due.compactMap { id, devices in
                guard standing.queries[id]?.end == nil, var work = work(id, standing) else { return nil }
                work.devices.removeAll { !devices.contains($0.id) }
                return work.devices.isEmpty ? nil : work
            }
        }
    }

    /// Notes the pushes that have ended.
    ///
    /// - Returns: The devices that the writer is to decide about at once.
    private func takeEnded(_ round: inout Round) -> [QueryID: Set<DeviceID>] {
        let ended = state.read { $0.ended.isEmpty } ? [] : state.change { $0.takeEnded() }
        var due: [QueryID: Set<DeviceID>] = [:]
        for (query, device, ending) in ended {
            guard round.taken[query]?.underWay.remove(device) != nil else { continue }
            if case .open(let moment) = ending {
                round.taken[query]?.waiting[device] = moment ?? Timestamp(milliseconds: .min)
                if moment == nil { due[query, default: []].insert(device) }
            }
            closeIfDone(query, &round)
        }
        return due
    }

    /// If no push of the query is under way or waits, has the writer decide whether the query has failed.
    private func closeIfDone(_ query: QueryID, _ round: inout Round) {
        guard round.taken[query]?.isDone == true else { return }
        round.taken[query] = nil
        round.deviceless.insert(query)
        let hasFailed = log.withStanding { $0.queries[query].map { $0.end == nil } ?? false }
        if hasFailed { submit(.endFailedQuery(query), query) } else { round.deviceless.remove(query) }
    }

    /// Has the writer decide about the queries, each once, in few transactions. The standing is ahead of the file; as
    /// soon as these decisions are durable, so are the questions before them.
    ///
    /// - Parameter undecided: Receives the queries that the log does not take now.
    private func decide(_ works: [Work], leaving undecided: inout Set<QueryID>) -> [(Work, [PushOrder])] {
        if works.isEmpty { return [] }
        let answers = Monitor((left: works.count, orders: [QueryID: [PushOrder]]()))
        for work in works {
            let start = Order.startPushes(work.query, to: work.devices.map(\.id))
            log.submit(start.command, by: .house, correlation: work.query) { result in
                answers.change { answers in
                    answers.left -= 1
                    if case .success(let receipt) = result {
                        answers.orders[work.query] = start.read(receipt.reply)
                    }
                }
            }
        }
        let orders = answers.wait { $0.left == 0 ? $0.orders : nil } ?? [:]
        return works.compactMap { work in
            guard let orders = orders[work.query] else {
                undecided.insert(work.query)
                return nil
            }
            return (work, orders)
        }
    }

    // MARK: Pushing

    /// Sends the ordered pushes and keeps those that wait. A device without an order has lost its token meanwhile; if
    /// it waited, it keeps waiting until that is noticed.
    private func push(_ work: Work, _ orders: [PushOrder], _ round: inout Round) {
        var taken = round.taken[work.query] ?? Taken()
        for order in orders {
            taken.waiting[order.device] = nil
            switch order.what {
            case .send: taken.underWay.insert(order.device)
            case .wait(let until): taken.waiting[order.device] = until
            case .never: break
            }
        }
        round.taken[work.query] = taken
        for order in orders where order.what == .send {
            guard let (device, token) = work.devices.first(where: { $0.id == order.device }) else { continue }
            push(work, device, token, order)
        }
        closeIfDone(work.query, &round)
    }

    /// Hands one push to its sender. The closures run on the sender's thread.
    private func push(_ work: Work, _ device: DeviceID, _ token: Standing.PushToken, _ order: PushOrder) {
        let query = work.query
        let priority: LocationPushRequest.Priority = work.initiation == .user ? .userAsked : .serverAsked
        let push = TrackedPush(query, device, token, priority: priority, triesBefore: order.tries)
        guard let line = apps.line(for: token) else { return end(query, device, .failed) }
        do throws(PushRequestError) {
            let request = try PushApps.request(
                to: device, token, for: query, named: "query", priority: priority, deadline: work.deadline, at: clock())
            line.send(request) { [self] in
                push.isWanted(
                    log.withStanding { $0.withdrawal(of: query, to: device, token, at: clock()) })
            } began: { [clock] _ in
                push.began(at: clock())
            } attempted: { [self] attempt in
                record(push.ended(attempt))
            } completion: { [self] outcome in
                finish(push, outcome)
            }
        } catch {
            record(push.notSent("\(error)"))
            end(query, device, .failed)
        }
    }

    /// Records how a push ended, retires a token that APNs no longer accepts, and leaves the next step to the thread.
    private func finish(_ push: TrackedPush, _ outcome: PushOutcome) {
        if let last = push.lastWord(of: outcome) { record(last) }
        switch outcome {
        case .accepted: end(push.query, push.device, .accepted)
        case .rejected(let rejection):
            if let retirement = Command.retiring(push.token, of: push.device, after: rejection) {
                submit(retirement, push.query)
            }
            // The device may have registered another token meanwhile.
            end(push.query, push.device, .open(notBefore: nil))
        case .withdrawn: end(push.query, push.device, .open(notBefore: nil))
        case .failed(.connectionLost): end(push.query, push.device, .open(notBefore: nil))
        case .failed(.queueFull):
            let moment = Timestamp(milliseconds: clock().milliseconds + Self.crowdedMilliseconds)
            end(push.query, push.device, .open(notBefore: moment))
        // The next process continues.
        case .failed(.stopped): break
        case .failed: end(push.query, push.device, .failed)
        }
    }

    private func end(_ query: QueryID, _ device: DeviceID, _ ending: Ending) {
        state.change { $0.ended.append((query, device, ending)) }
    }

    private func record(_ attempt: LocationPushAttempt) { submit(.recordPushAttempt(attempt), attempt.query) }

    /// Submits a command; if the log's queue is full, keeps it for the next tick.
    private func submit(_ command: Command, _ query: QueryID) {
        log.submit(command, by: .house, correlation: query) { [state] result in
            if case .failure(.busy) = result { state.change { $0.unrecorded.append((command, query)) } }
        }
    }
}
