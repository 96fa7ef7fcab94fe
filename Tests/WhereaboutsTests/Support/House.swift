import Geodesy
import Whereabouts

/// A log in memory: decides, numbers, folds. Every event it holds went through its bytes, as in the real log.
struct House {
    private(set) var standing = Standing()
    private(set) var log: [RecordedEvent] = []
    private(set) var known = KnownFixes()

    static let start = Timestamp(milliseconds: 1_767_225_600_000)
    /// The time of the house.
    var now = House.start

    /// The result of a command: its reply, or the refusal that the caller gets.
    ///
    /// - Parameter key: the request's idempotency key, if it has one.
    @discardableResult
    mutating func submit(_ command: Command, by caller: Caller, key: RequestID? = nil) -> Result<CommandReply, Refusal>
    {
        do throws(Refusal) {
            if let key, let kept = try standing.outcome(of: key, by: caller, at: now) { return .success(kept.reply) }
            let decision = try standing.decide(
                command, by: caller, at: now, questionTime: { [now] _, _ in now }, known: &known)
            for draft in decision.drafts {
                let actor = draft.followed.map { Caller(principal: $0.actor, scopes: [], token: nil) }
                record(
                    draft.event, in: draft.stream, cause: draft.cause, by: actor ?? caller,
                    key: draft.followed?.correlation ?? key)
            }
            if let refusal = decision.refusal { return .failure(refusal) }
            return .success(decision.reply)
        } catch { return .failure(error) }
    }

    mutating func record(
        _ event: Event, in stream: StreamID, cause: Int64 = 0, by caller: Caller = .house, key: RequestID? = nil
    ) {
        let number = standing.place + 1
        let recorded = RecordedEvent(
            number: number, stream: stream, version: standing.version(of: stream) + 1, recordedAt: now,
            actor: caller.principal, correlation: key ?? Identifier128(high: 1, low: UInt64(number)),
            cause: cause, event: event)
        if case .fixReported(let device, _, .open(let fix)) = event {
            known.fixes[fix.identity(device: device), default: []].append((fix.content, number))
        }
        if case .sealedFixReported = event, let (device, fix) = event.identified, let fix {
            known.fixes[fix.identity(device: device), default: []].append((fix.content, number))
        }
        log.append(recorded)
        standing.fold(recorded)
    }

    // MARK: Short ways

    /// Events after the first `count`.
    func events(after count: Int) -> [Event] { log[count...].map(\.event) }

    static func handle(_ text: String) -> Handle { Handle(text) ?? { preconditionFailure("\(text) is no handle.") }() }

    mutating func token(for holder: TokenHolder, _ scopes: Scopes, by caller: Caller) -> Caller {
        let hash = Hash256(words: (UInt64(standing.tokens.next), 7, 7, UInt64(standing.tokens.next)))
        guard
            case .success(.token(let id)) = submit(
                .issueToken(for: holder, scopes: scopes, hash: hash, until: nil), by: caller),
            let token = standing.tokens[id]
        else { preconditionFailure("A token is refused in the set-up of a test.") }
        return Caller(principal: token.issued.principal, scopes: scopes, token: id)
    }

    mutating func grant(
        _ subject: String, to requester: String, _ precision: Precision = .exact, history: Bool = true,
        from: Timestamp? = nil, until: Timestamp? = nil, hours: WeeklyHours? = nil, asksEachTime: Bool = false,
        by caller: Caller
    ) -> GrantID {
        let command = Command.giveGrant(
            subject: Self.handle(subject), requester: Self.handle(requester),
            GrantTerms(
                precision: precision, includesHistory: history && !asksEachTime, asksEachTime: asksEachTime,
                from: from, until: until, hours: hours))
        guard case .success(.grant(let id)) = submit(command, by: caller) else {
            preconditionFailure("A grant is refused in the set-up of a test.")
        }
        return id
    }

    func fix(atSecond second: Int64, latitude: Double = 52.5, accuracy: Double? = 5) -> Fix {
        guard let coordinate = try? Coordinate(latitude: latitude, longitude: 13.4) else { preconditionFailure() }
        return Fix(timestamp: Self.start.adding(seconds: second), coordinate: coordinate, horizontalAccuracy: accuracy)
    }

    mutating func report(_ fixes: [Fix], answering query: QueryID? = nil, by device: Caller) -> [FixOutcome] {
        let reports = fixes.map { DeviceReport.fix($0, answering: query) }
        guard case .success(.fixes(let outcomes)) = submit(.reportFixes(device: .caller, reports), by: device) else {
            return []
        }
        return outcomes
    }

    func question(_ id: UInt64, about subject: String, maxAge: Int64 = 60, deadline: Int64 = 60) -> LocationQuestion {
        LocationQuestion(
            id: QueryID(high: 9, low: id), subject: Self.handle(subject), purpose: "late for dinner",
            initiation: .user, deadlineSeconds: deadline, maxAgeSeconds: maxAge)
    }
}

/// The fixes a log holds, all in memory.
struct KnownFixes: FixLookup {
    var fixes: [Fix.Identity: [(content: Fix, number: Int64)]] = [:]

    mutating func known(_ fix: Fix, device: DeviceID) -> KnownFix {
        guard let alike = fixes[fix.identity(device: device)] else { return .none }
        return alike.first { $0.content == fix.content }.map { .same($0.number) } ?? .twin
    }
}

/// A house with an operator, the walker and her phone, a friend and a stranger.
struct Scene {
    var house = House()
    let admin, walker, friend, stranger, phone: Caller

    init() {
        let made = Caller.house
        admin = house.token(for: .operator, [.query, .audit, .manage, .operate], by: made)
        for name in ["walker", "friend", "stranger"] {
            house.submit(.addPerson(House.handle(name)), by: admin)
        }
        house.submit(.addDevice(House.handle("phone"), of: House.handle("walker")), by: admin)
        walker = house.token(for: .person(House.handle("walker")), [.query, .audit, .manage], by: admin)
        friend = house.token(for: .person(House.handle("friend")), [.query, .audit, .manage], by: admin)
        stranger = house.token(for: .person(House.handle("stranger")), [.query, .audit, .manage], by: admin)
        phone = house.token(for: .device(House.handle("phone")), .report, by: admin)
    }

    var walkerID: PersonID { PersonID(rawValue: walker.principal.rawValue) }
    var friendID: PersonID { PersonID(rawValue: friend.principal.rawValue) }
    var phoneID: DeviceID { DeviceID(rawValue: phone.principal.rawValue) }
}
