import JSON
import LocationPush
import Synchronization
import Whereabouts

/// Wakes the phones of whoever is asked for, and brings what APNs said back in by the front door.
///
/// Its place is the standing: every open query that this process has not pushed yet is pushed, so that a restart loses
/// none. A repeated push has the same `apns-id`, which follows from query and device. Whether a device may be woken now
/// is decided by the writer; a push leaves after the event that says so.
final class Pusher: Sendable {
    private struct State {
        /// Queries taken up by this process, with the number of devices that did not fail yet.
        var outstanding: [QueryID: Int] = [:]
        var isStopping = false
    }

    private static let idleMilliseconds = 100
    /// Queries decided about in one go: far below what the log lets wait.
    private static let queriesAtOnce = 1000

    private let state = Monitor(State())
    private let thread = Mutex<WorkerThread?>(nil)
    private let log: EventLog
    private let apps: PushApps
    private let clock: @Sendable () -> Timestamp

    init(log: EventLog, apps: PushApps, clock: @escaping @Sendable () -> Timestamp) {
        self.log = log
        self.apps = apps
        self.clock = clock
        thread.withLock { $0 = WorkerThread { [self] in run() } }
    }

    func stop() {
        state.change { $0.isStopping = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
        apps.stop()
    }

    /// What the thread knows of queries that are not over.
    private struct Round {
        /// Number of the newest question that was looked at.
        var asked: Int64 = 0
        /// To be decided about now, in the order asked.
        var fresh: [QueryID] = []
        /// Not decided about yet: they wait for the subject's word, or the log was busy.
        var undecided: Set<QueryID> = []
        /// Devices that may be woken later, by query.
        var waiting: [QueryID: [DeviceID: Timestamp]] = [:]
    }

    /// New questions are taken up as they come; what only time or another event changes is looked through once in a tick,
    /// because there may be much of it.
    private func run() {
        let tick = Duration.milliseconds(Self.idleMilliseconds)
        var place: Int64 = 0
        var round = Round()
        var nextTick = ContinuousClock.now
        while !state.read({ $0.isStopping }) {
            if round.fresh.isEmpty { place = log.waitForHead(after: place, milliseconds: Self.idleMilliseconds) }
            var again: [Work] = []
            if ContinuousClock.now >= nextTick {
                again = lookThrough(&round)
                nextTick = .now + tick
            }
            let works = log.withStanding { standing -> [Work] in
                round.fresh += standing.queries(askedAfter: round.asked)
                round.asked = standing.place
                let next = round.fresh.prefix(Self.queriesAtOnce)
                round.fresh.removeFirst(next.count)
                return next.compactMap { query in
                    guard let known = standing.queries[query], known.end == nil else { return nil }
                    if !known.awaitsConsent, let work = work(query, standing) { return work }
                    round.undecided.insert(query)
                    return nil
                }
            }
            for (work, orders) in decide(works, leaving: &round.undecided) {
                state.change { $0.outstanding[work.query] = orders.isEmpty ? nil : orders.count }
                round.waiting[work.query] = push(work, orders, [:])
            }
            var missed: Set<QueryID> = []
            for (work, orders) in decide(again, leaving: &missed) {
                round.waiting[work.query] = push(work, orders, round.waiting[work.query] ?? [:])
            }
        }
    }

    /// Forgets what is over, finds which devices have lost their token, and gives what is due again.
    private func lookThrough(_ round: inout Round) -> [Work] {
        let now = clock()
        let outstanding = state.read { Array($0.outstanding.keys) }
        let (over, works, gone) = log.withStanding { standing in
            func isOpen(_ id: QueryID) -> Bool { standing.queries[id].map { $0.end == nil } ?? false }
            round.fresh += round.undecided.filter(isOpen)
            round.undecided = []
            round.waiting = round.waiting.filter { isOpen($0.key) }
            var works: [Work] = []
            for (id, devices) in round.waiting {
                guard works.count < Self.queriesAtOnce else { break }
                let due = Set(devices.filter { $0.value <= now && standing.devices[$0.key]?.mayBeWoken == true }.keys)
                guard !due.isEmpty, var work = work(id, standing) else { continue }
                work.devices.removeAll { !due.contains($0.id) }
                if !work.devices.isEmpty { works.append(work) }
            }
            // A token that died in a push, or was taken away, is dead for everybody who waited for its device.
            let gone = round.waiting.mapValues { devices in
                devices.keys.filter { standing.devices[$0]?.pushToken == nil }
            }
            return (outstanding.filter { !isOpen($0) }, works, gone)
        }
        if !over.isEmpty { state.change { state in for id in over { state.outstanding[id] = nil } } }
        for (query, devices) in gone {
            for device in devices where round.waiting[query]?.removeValue(forKey: device) != nil {
                finishOne(query, isAccepted: false)
            }
        }
        return works
    }

    /// What can be pushed for one query.
    private struct Work {
        let query: QueryID
        let initiation: LocationQuery.Initiation
        let deadline: Timestamp
        var devices: [(id: DeviceID, token: Standing.PushToken)]
    }

    private func work(_ id: QueryID, _ standing: borrowing Standing) -> Work? {
        guard let query = standing.queries[id], let person = standing.persons[query.subject] else { return nil }
        var devices: [(id: DeviceID, token: Standing.PushToken)] = []
        for device in person.devices {
            guard let token = standing.devices[device]?.pushToken, apps.sender(for: token) != nil else { continue }
            devices.append((device, token))
        }
        return Work(query: id, initiation: query.initiation, deadline: query.deadline, devices: devices)
    }

    /// Has the writer decide about all of them in few transactions. The standing runs ahead of the file; once these
    /// decisions are durable, so are the questions before them.
    ///
    /// - Parameter undecided: gets what the log does not take now.
    private func decide(_ works: [Work], leaving undecided: inout Set<QueryID>) -> [(Work, [PushOrder])] {
        if works.isEmpty { return [] }
        let answers = Monitor((left: works.count, orders: [QueryID: [PushOrder]]()))
        for work in works {
            let command = Command.startPushes(work.query, to: work.devices.map(\.id))
            log.submit(command, by: .house, correlation: work.query) { result in
                answers.change { answers in
                    answers.left -= 1
                    if case .success(let receipt) = result, case .pushes(let orders) = receipt.reply {
                        answers.orders[work.query] = orders
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

    /// Sends what was ordered now.
    ///
    /// - Parameter waiting: the query's devices that were to be asked about again.
    /// - Returns: the ones that still are.
    private func push(
        _ work: Work, _ orders: [PushOrder], _ waiting: [DeviceID: Timestamp]
    ) -> [DeviceID: Timestamp]? {
        // A device about which nothing was ordered lost its token meanwhile; it waits on, to be found gone.
        var waiting = waiting
        for order in orders { waiting[order.device] = nil }
        for order in orders {
            if case .wait(let until) = order.what { waiting[order.device] = until }
        }
        for order in orders where order.what == .send {
            guard let (device, token) = work.devices.first(where: { $0.id == order.device }) else { continue }
            let apnsID = LocationPushAttempt.apnsID(work.query, device)
            let tried = Tried()
            do throws(PushRequestError) {
                let request = try PushApps.request(
                    to: device, token, for: work.query, named: "query",
                    priority: work.initiation == .user ? .userAsked : .serverAsked, deadline: work.deadline, at: clock()
                )
                apps.sender(for: token)?.send(
                    request,
                    attempted: { [self] attempt in
                        tried.wasTried = true
                        let (status, reason) = attempt.recorded
                        record(
                            work.query, device, apnsID, number: order.tries + Int64(attempt.number), status: status,
                            reason: reason, milliseconds: attempt.durationMs)
                    },
                    completion: { [self] outcome in
                        if !tried.wasTried, case .failed(let fault) = outcome {
                            recordNotSent(work.query, device, apnsID, because: "\(fault)")
                        }
                        finish(work.query, device, token, outcome)
                    })
            } catch {
                recordNotSent(work.query, device, apnsID, because: "\(error)")
                finishOne(work.query, isAccepted: false)
            }
        }
        return waiting.isEmpty ? nil : waiting
    }

    /// Whether a push was tried.
    private final class Tried: Sendable {
        private let state = Atomic<Bool>(false)
        var wasTried: Bool {
            get { state.load(ordering: .relaxed) }
            set { state.store(newValue, ordering: .relaxed) }
        }
    }

    private func finish(_ query: QueryID, _ device: DeviceID, _ token: Standing.PushToken, _ outcome: PushOutcome) {
        if case .rejected(let rejection) = outcome,
            let retirement = Command.retiring(token, of: device, after: rejection)
        {
            log.submit(retirement, by: .house, correlation: .random()) { _ in }
        }
        switch outcome {
        case .accepted: finishOne(query, isAccepted: true)
        // The next process pushes again.
        case .failed(.stopped): break
        case .rejected, .failed, .withdrawn: finishOne(query, isAccepted: false)
        }
    }

    /// When the last device of a query has failed and none was reached, the query has failed.
    private func finishOne(_ query: QueryID, isAccepted: Bool) {
        let isOver = state.change { state -> Bool in
            guard let left = state.outstanding[query] else { return false }
            if isAccepted {
                state.outstanding[query] = nil
                return false
            }
            state.outstanding[query] = left > 1 ? left - 1 : nil
            return left == 1
        }
        if isOver { log.submit(.endQuery(query, .pushFailed), by: .house, correlation: query) { _ in } }
    }

    /// The end of a push that was started and never tried.
    private func recordNotSent(
        _ query: QueryID, _ device: DeviceID, _ apnsID: Identifier128, because reason: String
    ) {
        record(query, device, apnsID, number: 0, status: nil, reason: "not sent: \(reason)", milliseconds: 0)
    }

    private func record(
        _ query: QueryID, _ device: DeviceID, _ apnsID: Identifier128, number: Int64, status: Int64?, reason: String?,
        milliseconds: Int64
    ) {
        let attempt = LocationPushAttempt(
            query: query, device: device, attempt: number, apnsID: apnsID, status: status,
            reason: reason.map { String($0.prefix(200)) }, durationMilliseconds: milliseconds)
        log.submit(.recordPushAttempt(attempt), by: .house, correlation: query) { _ in }
    }
}
