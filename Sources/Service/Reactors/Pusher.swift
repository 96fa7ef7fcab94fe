import JSON
import LocationPush
import Synchronization
import Whereabouts

/// Wakes the phones of whoever is asked for, and brings what APNs said back in by the front door.
///
/// Its place is the standing: every open query that this process has not pushed yet is pushed, so that a restart loses
/// none. A repeated push has the same `apns-id`, which follows from query and device.
final class Pusher: Sendable {
    private struct State {
        /// Queries pushed by this process, with the devices whose outcome is outstanding.
        var outstanding: [QueryID: Int] = [:]
        var pushed: Set<QueryID> = []
        var isStopping = false
    }

    private static let idleMilliseconds = 100

    private let state = Monitor(State())
    private let thread = Mutex<WorkerThread?>(nil)
    private let log: EventLog
    private let sender: PushSender
    private let bundleIDs: Set<String>
    private let environment: Whereabouts.PushEnvironment

    /// - Throws: a sentence that says which setting cannot be used.
    init(log: EventLog, settings: ServiceConfiguration.Push) throws(ConfigurationError) {
        self.log = log
        bundleIDs = Set(settings.bundleIDs)
        let environment: LocationPush.PushEnvironment =
            settings.environment == "production" ? .production : .development
        self.environment = environment == .production ? .production : .development
        guard let pem = DataDirectory.read(settings.keyFile, atMost: 16 << 10) else {
            throw ConfigurationError("The push key \(settings.keyFile) cannot be read.")
        }
        do {
            let key = try ProviderTokenKey(pem: pem, keyID: settings.keyID, teamID: settings.teamID)
            var configuration = PushSender.Configuration(
                endpoint: PushEndpoint(
                    environment: environment, host: settings.host, port: UInt16(settings.port),
                    trustFile: settings.caFile),
                providerTokens: ProviderTokenSource(key: key))
            configuration.diagnose = { Diagnostics.note("push", "\($0)") }
            sender = try PushSender(configuration)
        } catch { throw ConfigurationError("Pushes cannot be sent: \(error)") }
        thread.withLock { $0 = WorkerThread { [self] in run() } }
    }

    func stop() {
        state.change { $0.isStopping = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
        sender.stop()
    }

    private func run() {
        var place: Int64 = 0
        while !state.read({ $0.isStopping }) {
            place = log.waitForHead(after: place, milliseconds: Self.idleMilliseconds)
            // The standing runs ahead of the file: a question that is not durable yet has not been asked.
            let durable = log.head
            let done = state.read { $0.pushed }
            let (open, fresh) = log.withStanding { standing in
                let open = Set(standing.openQueries.values.joined())
                return (open, open.subtracting(done).compactMap { id in Self.work(id, standing, durable) })
            }
            state.change { $0.pushed.formIntersection(open) }
            for work in fresh { push(work) }
        }
    }

    /// What has to be pushed for one query.
    private struct Work {
        let query: QueryID
        let initiation: LocationQuery.Initiation
        let deadline: Timestamp
        let devices: [(id: DeviceID, token: Standing.PushToken)]
    }

    private static func work(_ id: QueryID, _ standing: borrowing Standing, _ durable: Int64) -> Work? {
        guard let query = standing.queries[id], query.number <= durable, let person = standing.persons[query.subject]
        else { return nil }
        return Work(
            query: id, initiation: query.initiation, deadline: query.deadline,
            devices: person.devices.compactMap { device in
                standing.devices[device]?.pushToken.map { (device, $0) }
            })
    }

    private func push(_ work: Work) {
        let devices = work.devices.filter {
            $0.token.environment == environment && bundleIDs.contains($0.token.token.bundleID)
        }
        state.change {
            $0.pushed.insert(work.query)
            $0.outstanding[work.query] = devices.isEmpty ? nil : devices.count
        }
        for (device, token) in devices {
            let apnsID = Self.apnsID(work.query, device)
            do throws(PushRequestError) {
                let request = try LocationPushRequest(
                    deviceToken: token.token.bytes, bundleID: token.token.bundleID,
                    environment: environment == .production ? .production : .development,
                    priority: work.initiation == .user ? .userAsked : .serverAsked,
                    expirationSeconds: work.deadline.milliseconds / 1000, apnsID: apnsID.description,
                    collapseID: "device-\(device.rawValue)", payload: Self.payload(work.query),
                    deadlineMs: work.deadline.milliseconds)
                sender.send(request) { [self] attempt in
                    let (status, reason) = Self.words(attempt.ending)
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
    }

    /// The payload names the query and nothing personal.
    private static func payload(_ query: QueryID) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.object("aps") { _ in }
        writer.field("query", query.description)
        writer.endObject()
        return writer.bytes
    }

    /// One UUID per query and device, the same on every try and after a restart.
    static func apnsID(_ query: QueryID, _ device: DeviceID) -> Identifier128 {
        Identifier128(random: query.high, query.low ^ UInt64(bitPattern: device.rawValue))
    }

    private func finish(_ query: QueryID, _ device: DeviceID, _ token: Standing.PushToken, _ outcome: PushOutcome) {
        if case .rejected(let rejection) = outcome { retireIfDead(device, token, rejection) }
        if case .accepted = outcome { finishOne(query, isAccepted: true) } else { finishOne(query, isAccepted: false) }
    }

    private func retireIfDead(_ device: DeviceID, _ token: Standing.PushToken, _ rejection: PushRejection) {
        let asOf: Timestamp?
        switch rejection.consequence {
        case .retireDeviceToken(let since): asOf = since.map(Timestamp.init(milliseconds:))
        case .wrongEnvironment: asOf = nil
        default: return
        }
        log.submit(
            .retirePushToken(device, token.token, reason: rejection.reason.name, asOf: asOf), by: .house,
            correlation: .random()
        ) { _ in }
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

    private static func words(_ ending: PushAttempt.Ending) -> (Int64?, String?) {
        switch ending {
        case .accepted: (200, nil)
        case .rejected(let rejection): (Int64(rejection.status), rejection.reason.name)
        case .notProcessed: (nil, "not processed")
        case .unknown(let why): (nil, why)
        }
    }
}

/// A setting that cannot be used, in a sentence.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
