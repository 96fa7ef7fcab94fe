internal import CoreLocation
internal import Foundation
internal import FoundationNetworking
internal import Geodesy
internal import Glibc
internal import JSON
internal import LocationPush
internal import LocationSharingApp
package import PushStandIn
internal import Threading
package import Whereabouts

/// A service that a world has for itself, on the world's time.
package struct WorldService: Sendable {
    let port: Int
    let adminToken: String
    let setTime: @Sendable (Timestamp) -> Void
    let stop: @Sendable () -> Void

    package init(
        port: Int, adminToken: String, setTime: @escaping @Sendable (Timestamp) -> Void,
        stop: @escaping @Sendable () -> Void
    ) {
        (self.port, self.adminToken, self.setTime, self.stop) = (port, adminToken, setTime, stop)
    }

    /// Starts a service on a new directory, whose pushes go to a stand-in and whose clock has a given time.
    package typealias Start =
        @Sendable (
            _ directory: String, _ pushes: PushStandIn, _ bundleID: String, _ time: Timestamp
        ) throws -> WorldService
}

/// Plays a ``WorldScenario``: a service, a stand-in for APNs, phones and askers, on one simulated time.
///
/// The parts talk over real HTTP/2, HTTP and files, and the simulated time stops while they work: so the phones'
/// callback logs are the same on every run. Between two questions the phones run in parallel, each on its own clock. A
/// question is asked when its phone has reached that moment, one question after the other. The service's clock is at
/// the end of the slice being played, so the phones' reports arrive up to `sliceSeconds` late.
final class World {
    static let bundleID = "org.example.simulated"
    /// Simulated seconds the phones run at a time.
    private static let sliceSeconds = 900.0
    /// Phones at work at a time; most of the time they wait for the service's disk.
    private static let threads = 8
    /// A device token registers with a courier's line; each takes this many.
    static let phonesPerLine = 60
    /// Real milliseconds until a push that the service was to send counts as never sent.
    private static let pushMs: Int64 = 5_000

    /// The outcome of one question.
    struct Asked: Equatable {
        let asker, person: String
        let at: Date
        let end: String
        let isExpected: Bool
        /// Simulated, from the question to the answer.
        let seconds: Double
        let wasPushed: Bool
    }

    private let scenario: WorldScenario
    private let folder: String
    private let standIn: PushStandIn
    /// Counts the pushes that the stand-in turned away.
    private let refused: Counter
    let service: WorldService
    private let http: ServiceConnection
    private let tally = Tally()
    private var lines: [Line] = []
    private var members: [String: [Member]] = [:]
    private var order: [Member] = []
    private var now: Date
    private let session: URLSession
    private(set) var asked: [Asked] = []

    /// Makes the folder's contents, the service, the persons and the phones.
    ///
    /// - Throws: ``ScenarioError`` and whatever the parts have against it, in one sentence.
    init(_ scenario: WorldScenario, folder: String, start: WorldService.Start, diary: Diary?) throws {
        self.scenario = scenario
        self.folder = folder
        now = scenario.start
        for name in ["stand-in", "service", "phones"] { mkdir("\(folder)/\(name)", 0o700) }
        var configuration = PushStandIn.Configuration(directory: "\(folder)/stand-in")
        configuration.bundleIDs = [Self.bundleID]
        let refused = Counter()
        configuration.record = { if $0.status != 200 { _ = refused.take() } }
        self.refused = refused
        standIn = try PushStandIn(configuration)
        service = try start("\(folder)/service", standIn, Self.bundleID, Timestamp(scenario.start))
        http = try ServiceConnection(service: "http://127.0.0.1:\(service.port)")
        let sessionConfiguration = URLSessionConfiguration.ephemeral
        sessionConfiguration.httpMaximumConnectionsPerHost = Self.threads
        session = URLSession(configuration: sessionConfiguration)
        let tally = self.tally
        let diary = Diary { line in
            tally.take(line)
            diary?.write(line)
        }
        for (group, phones) in scenario.phones.enumerated() {
            members[phones.person] = try (1...phones.count).map { number in
                try make(phones, group: group, number: number, diary: diary)
            }
        }
        for asker in scenario.askers where members[asker.person] == nil {
            guard tokens[asker.person] == nil else { continue }
            try manage("POST", "/v1/people", ["handle": asker.person])
            try issueToken(to: asker.person)
        }
        for asker in scenario.askers {
            if tokens[asker.person] == nil { try issueToken(to: asker.person) }
            for member in members[asker.asks] ?? [] {
                try manage(
                    "POST", "/v1/people/\(member.handle)/grants",
                    ["requester": asker.person, "precision": "exact", "history": false])
            }
        }
    }

    private var tokens: [String: String] = [:]

    private func issueToken(to person: String) throws {
        let answer = try manage("POST", "/v1/people/\(person)/tokens", ["scopes": ["query"]])
        tokens[person] = answer["token"]?.string
    }

    /// Plays the whole time, then stops everything but the service.
    ///
    /// - Parameter progress: hears of the simulated time, as a part of the whole, now and then.
    func play(progress: (Double) -> Void) throws {
        let end = scenario.start.addingTimeInterval(scenario.hours * 3600)
        inParallel { member in
            member.phone.open()
            // The user answers the prompts, then puts the phone away.
            member.run(until: member.now.addingTimeInterval(30))
            member.phone.leave()
        }
        var questions = plan(until: end)[...]
        while now < end {
            let sliceEnd = min(now.addingTimeInterval(Self.sliceSeconds), end)
            while let question = questions.first, question.at <= sliceEnd {
                questions = questions.dropFirst()
                try ask(question)
            }
            advance(to: max(now, sliceEnd))
            for member in order { try changeToken(of: member) }
            let moment = now
            inParallel { member in
                member.run(until: moment)
                Self.openIfDue(member)
            }
            progress(min(1, now.timeIntervalSince(scenario.start) / (scenario.hours * 3600)))
        }
        for line in lines { line.disconnect() }
    }

    /// Counts of the played scenario.
    var summary: Summary {
        Summary(
            phones: order.count, reported: tally.count("reported"), retried: tally.count("retrying"),
            refused: tally.count("refused"), pushes: tally.count("pushReceived"), killed: tally.count("killed"),
            asked: asked,
            radioUse: order.reduce(into: [:]) { $0.merge($1.phone.radioUse) { one, other in one + other } })
    }

    /// The callback log of each phone, by its person.
    var callbackLogs: [(person: String, log: CallbackLog)] { order.map { ($0.handle, $0.phone.callbackLog) } }

    func stop() {
        session.invalidateAndCancel()
        service.stop()
        standIn.stop()
    }

    // MARK: Making

    private func make(_ phones: WorldScenario.Phones, group: Int, number: Int, diary: Diary) throws -> Member {
        let handle = phones.handle(number)
        let index = order.count
        try manage("POST", "/v1/people", ["handle": handle])
        let device = try manage("POST", "/v1/people/\(handle)/devices", ["handle": "\(handle)-phone"])
        guard let key = device["password"]?.string else { throw ScenarioError("The service gave no reporting key.") }
        let seed = scenario.seed &+ UInt64(index) &* 0x9E37_79B9_7F4A_7C15
        var noise = SeededNoise(seed: seed, purpose: 101)
        var manner = SimulatedPhone.Manner()
        (manner.profile, manner.user, manner.interests, manner.seed) = (
            phones.profile, phones.user, phones.reports, seed
        )
        manner.weather = Weather(
            lossPercent: scenario.lossPercent, delaySeconds: scenario.delaySeconds, seed: seed, purpose: 102)
        let track: SimulatedTrack
        switch phones.way {
        case .track(let given): track = given
        case .agenda(let home, let steps):
            let place = try Coordinate(latitude: home.latitude, longitude: home.longitude)
            let start = Geodesic.direct(
                from: place, initialAzimuth: noise.uniform() * 360,
                distanceMeters: noise.uniform() * phones.spreadMeters)
            track = try phones.itinerary(from: start, steps, hours: scenario.hours, seed: seed)
                .track(departure: scenario.start)
            for region in phones.regions {
                manner.regions.append(
                    CLCircularRegion(
                        center: CLLocationCoordinate2D(start), radius: region.meters, identifier: region.id))
                try manage(
                    "POST", "/v1/people/\(handle)/regions",
                    [
                        "id": region.id,
                        "circle": [
                            "latitude": start.latitude, "longitude": start.longitude, "radiusMeters": region.meters,
                        ],
                    ])
            }
            for beacon in phones.beacons {
                manner.beacons.append(
                    SimulatedBeacon(
                        uuid: beacon.uuid, major: 1, minor: 1,
                        coordinate: CLLocationCoordinate2D(start.moved(east: beacon.east, north: beacon.north))))
                manner.regions.append(CLBeaconRegion(uuid: beacon.uuid, identifier: beacon.id))
            }
        }
        if index % Self.phonesPerLine == 0 { lines.append(Line(port: standIn.courierPort)) }
        let line = lines[lines.count - 1]
        let container = "\(folder)/phones/\(handle)"
        mkdir(container, 0o700)
        guard let url = URL(string: "http://127.0.0.1:\(service.port)") else {
            preconditionFailure("A port is a number.")
        }
        let phone = SimulatedPhone(
            SimulatedPhone.Identity(
                device: "\(handle)-phone", reportingKey: key, bundleID: Self.bundleID, environment: .development),
            manner, start: scenario.start, service: url, folder: container, network: session, diary: diary)
        let token = Token()
        phone.device.locationPushRegistrar = { _ in
            let bytes = try line.register()
            token.bytes = bytes
            return bytes
        }
        phone.device.follow(track, findsInGapsOf: phones.everySeconds * 1.5)
        let member = Member(
            handle: handle, phone: phone, line: line,
            weather: Weather(
                lossPercent: scenario.lossPercent, delaySeconds: scenario.delaySeconds, seed: seed, purpose: 103),
            token: token, habits: phones, now: scenario.start)
        order.append(member)
        return member
    }

    @discardableResult
    private func manage(_ method: String, _ path: String, _ body: [String: Any]) throws -> JSONValue {
        let bytes = [UInt8](try JSONSerialization.data(withJSONObject: body))
        return try answer(
            ServiceRequest(method: method, path: path, bearer: service.adminToken, body: bytes), of: path)
    }

    private func answer(_ request: ServiceRequest, of path: String) throws -> JSONValue {
        switch http.send(request) {
        case .answer(let status, let body) where (200..<300).contains(status):
            return try JSONDocument.parse(body).root
        case .answer(let status, let body):
            let detail = (try? JSONDocument.parse(body).root["detail"]?.string) ?? ""
            throw ScenarioError("The service answered \(status) to \(path): \(detail)")
        case .nothing(let reason): throw ScenarioError("The service does not answer: \(reason).")
        }
    }

    // MARK: Asking

    private struct Question {
        let asker: WorldScenario.Asker
        let person: String
        let at: Date
    }

    private func plan(until end: Date) -> [Question] {
        var questions: [Question] = []
        for asker in scenario.askers {
            let asked = members[asker.asks]?.map(\.handle) ?? []
            var at = scenario.start.addingTimeInterval(asker.fromSeconds)
            var turn = 0
            while at < end, !asked.isEmpty {
                questions.append(Question(asker: asker, person: asked[turn % asked.count], at: at))
                at = at.addingTimeInterval(asker.everySeconds)
                turn += 1
            }
        }
        // Sorting is not stable: the order must not be left to chance.
        return questions.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    private func ask(_ question: Question) throws {
        guard let member = order.first(where: { $0.handle == question.person }),
            let token = tokens[question.asker.person]
        else { return }
        advance(to: max(now, question.at, member.now))
        let begin = now
        member.run(until: begin)
        let deadline = begin.addingTimeInterval(Double(question.asker.deadlineSeconds))
        let body = [UInt8](
            try JSONSerialization.data(withJSONObject: [
                "purpose": question.asker.purpose, "deadlineSeconds": question.asker.deadlineSeconds,
            ]))
        let path = "/v1/people/\(question.person)/location-queries"
        let refusedBefore = refused.count
        let said = try answer(ServiceRequest(method: "POST", path: path, bearer: token, body: body), of: path)
        guard let url = said["url"]?.string else { throw ScenarioError("The service gave a question no address.") }
        func look() throws -> String {
            let answer = try answer(ServiceRequest(method: "GET", path: url, bearer: token, body: []), of: url)
            return answer["status"]?.string ?? ""
        }
        var end = try look()
        var wasPushed = false
        if end == "pending",
            let push = try push(
                for: url.split(separator: "/").last ?? "", to: member, after: refusedBefore,
                unlessEnded: { try look() != "pending" })
        {
            wasPushed = true
            let (fate, delay) = member.weather.next()
            // APNs hears no answer from a phone and does not send again, but does not promise to deliver only once.
            for _ in 0..<[.isLost: 0, .arrives: 1, .answerIsLost: 2][fate, default: 1] {
                advance(to: max(now, begin.addingTimeInterval(delay)))
                member.run(until: now)
                member.phone.receive(topic: push.topic, payload: push.payload) { $0.field("apnsID", push.apnsID) }
            }
        }
        end = try look()
        while end == "pending", now < deadline {
            advance(to: min(deadline, now.addingTimeInterval(1)))
            member.run(until: now)
            end = try look()
        }
        let seconds = now.timeIntervalSince(begin)
        if end == "pending" {
            // The deadline has passed; the service notices by itself.
            advance(to: deadline.addingTimeInterval(1))
            let giveUpMs = MonotonicClock.milliseconds + Self.pushMs
            repeat {
                end = try look()
                if end == "pending" { rest(ms: 20) }
            } while end == "pending" && MonotonicClock.milliseconds < giveUpMs
        }
        asked.append(
            Asked(
                asker: question.asker.person, person: question.person, at: begin, end: end,
                isExpected: question.asker.expect.contains(end), seconds: seconds, wasPushed: wasPushed))
    }

    /// The push that the service sends for a question; `nil` when it sends none, or one to a token that has ended.
    ///
    /// One for an earlier question is passed over: it came so late because the machine was busy.
    private func push(
        for question: Substring, to member: Member, after refusedBefore: Int, unlessEnded hasEnded: () throws -> Bool
    ) throws -> CourierPush? {
        // A phone that never had a token is not pushed; one whose token has ended is, until the service hears of it.
        let isPushed = member.phone.hasToken || member.tokenHasEnded
        let giveUpMs = MonotonicClock.milliseconds + (isPushed ? Self.pushMs : 0)
        while MonotonicClock.milliseconds < giveUpMs {
            if let push = try member.line.nextPush(waitingMs: member.phone.hasToken ? 200 : 10) {
                if try JSONDocument.parse(push.payload).root["query"]?.string == String(question) { return push }
                continue
            }
            if try refused.count > refusedBefore || hasEnded() { break }
        }
        member.tokenHasEnded = false
        return nil
    }

    private func advance(to date: Date) {
        now = max(now, date)
        service.setTime(Timestamp(now))
    }

    /// APNs forgets the old token at once; the app does not know yet.
    private func changeToken(of member: Member) throws {
        let every = member.habits.newTokenEverySeconds
        guard every > 0, now.timeIntervalSince(member.tokenSince) >= every, let token = member.token.bytes else {
            return
        }
        member.tokenSince = now
        member.tokenHasEnded = true
        member.token.bytes = nil
        try standIn.unregisterPhone([UInt8](token), atUnixMs: Timestamp(now).milliseconds)
        member.phone.changeToken()
    }

    private static func openIfDue(_ member: Member) {
        let every = member.habits.opensEverySeconds
        guard every > 0, member.now.timeIntervalSince(member.openSince) >= every else { return }
        member.openSince = member.now
        member.phone.terminate()
        member.phone.open()
        member.run(until: member.now.addingTimeInterval(30))
        member.phone.leave()
    }

    private func inParallel(_ body: @escaping (Member) -> Void) {
        // Each phone is taken by one thread, and all are done before anything else goes on.
        nonisolated(unsafe) let (members, body) = (order, body)
        let next = Counter()
        let threads = (0..<min(Self.threads, members.count)).map { _ in
            WorkerThread {
                while case let index = next.take(), index < members.count { body(members[index]) }
            }
        }
        for thread in threads { thread.join() }
    }
}

extension Timestamp {
    fileprivate init(_ date: Date) { self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded())) }
}
