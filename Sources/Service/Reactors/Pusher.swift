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
        var pushed: Set<QueryID> = []
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

    private func run() {
        var place: Int64 = 0
        /// Devices that may be woken later, by query.
        var waiting: [QueryID: [DeviceID: Timestamp]] = [:]
        while !state.read({ $0.isStopping }) {
            place = log.waitForHead(after: place, milliseconds: Self.idleMilliseconds)
            let done = state.read { $0.pushed }
            let now = clock()
            let (open, works, gone) = log.withStanding { standing in
                let open = Set(
                    standing.openQueries.values.joined().filter { standing.queries[$0]?.awaitsConsent == false })
                var works = open.subtracting(done).prefix(Self.queriesAtOnce).compactMap { work($0, standing) }
                for (id, devices) in waiting where open.contains(id) {
                    guard works.count < Self.queriesAtOnce else { break }
                    let due = Set(
                        devices.filter { $0.value <= now && standing.devices[$0.key]?.mayBeWoken == true }.keys)
                    guard !due.isEmpty, var work = work(id, standing) else { continue }
                    work.devices.removeAll { !due.contains($0.id) }
                    if !work.devices.isEmpty { works.append(work) }
                }
                // A token that died in a push, or was taken away, is dead for everybody who waited for its device.
                let gone = waiting.mapValues { devices in
                    devices.keys.filter { standing.devices[$0]?.pushToken == nil }
                }
                return (open, works, gone)
            }
            state.change { state in
                state.pushed.formIntersection(open)
                state.outstanding = state.outstanding.filter { open.contains($0.key) }
            }
            waiting = waiting.filter { open.contains($0.key) }
            for (query, devices) in gone {
                for device in devices where waiting[query]?.removeValue(forKey: device) != nil {
                    finishOne(query, isAccepted: false)
                }
            }
            for (work, orders) in decide(works) {
                waiting[work.query] = push(work, orders, waiting[work.query] ?? [:])
            }
        }
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

    /// Has the writer decide about all of them in few transactions. What the log does not take now is left for the next
    /// round. The standing runs ahead of the file; once these decisions are durable, so are the questions before them.
    private func decide(_ works: [Work]) -> [(Work, [PushOrder])] {
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
        return works.compactMap { work in orders[work.query].map { (work, $0) } }
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
        var devices: [(id: DeviceID, token: Standing.PushToken)] = []
        for order in orders {
            switch order.what {
            case .wait(let until): waiting[order.device] = until
            case .send: devices += work.devices.filter { $0.id == order.device }
            }
        }
        state.change {
            if $0.pushed.insert(work.query).inserted {
                $0.outstanding[work.query] = orders.isEmpty ? nil : orders.count
            }
        }
        for (device, token) in devices {
            let apnsID = LocationPushAttempt.apnsID(work.query, device)
            do throws(PushRequestError) {
                let request = try PushApps.request(
                    to: device, token, for: work.query, named: "query",
                    priority: work.initiation == .user ? .userAsked : .serverAsked, deadline: work.deadline, at: clock()
                )
                apps.sender(for: token)?.send(request) { [self] attempt in
                    let (status, reason) = attempt.recorded
                    record(
                        work.query, device, apnsID, number: attempt.number, status: status, reason: reason,
                        milliseconds: attempt.durationMs)
                } completion: { [self] outcome in
                    finish(work.query, device, token, outcome)
                }
            } catch {
                record(
                    work.query, device, apnsID, number: 1, status: nil, reason: "not sent: \(error)", milliseconds: 0)
                finishOne(work.query, isAccepted: false)
            }
        }
        return waiting.isEmpty ? nil : waiting
    }

    private func finish(_ query: QueryID, _ device: DeviceID, _ token: Standing.PushToken, _ outcome: PushOutcome) {
        if case .rejected(let rejection) = outcome,
            let retirement = Command.retiring(token, of: device, after: rejection)
        {
            log.submit(retirement, by: .house, correlation: .random()) { _ in }
        }
        if case .accepted = outcome { finishOne(query, isAccepted: true) } else { finishOne(query, isAccepted: false) }
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

    private func record(
        _ query: QueryID, _ device: DeviceID, _ apnsID: Identifier128, number: Int, status: Int64?, reason: String?,
        milliseconds: Int64
    ) {
        let attempt = LocationPushAttempt(
            query: query, device: device, attempt: Int64(number), apnsID: apnsID, status: status,
            reason: reason.map { String($0.prefix(200)) }, durationMilliseconds: milliseconds)
        log.submit(.recordPushAttempt(attempt), by: .house, correlation: query) { _ in }
    }
}
