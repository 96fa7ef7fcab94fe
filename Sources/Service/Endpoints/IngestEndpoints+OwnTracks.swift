import Cryptography
import HTTPServer
import Synchronization
import Whereabouts
import WireFormats

extension IngestEndpoints {
    /// Takes what an OwnTracks app says; once it is durable, the answer tells the app of its owner's friends, and to report
    /// when a question waits for its owner.
    static func ownTracks(
        _ service: Service, _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let box = service.secretBox(of: exchange.caller)
        // The app for Android sends again for ever what is not taken.
        var reports =
            exchange.request.droppedBytes > 0
            ? [.rejected(.tooLarge)]
            : messageInForm(exchange.request).map { OwnTracks.reports(ofForm: $0, now: service.clock()) }
                ?? OwnTracks.reports(
                    from: exchange.request.body, now: service.clock(),
                    opening: box.map { box in { box.open(base64: $0) } })
        answerQuestions(with: &reports, of: service.log.withStanding { $0.owner(of: exchange.caller) }, service)
        let requests = reports.compactMap { report in
            if case .message("request", let text) = report { OwnTracks.request(text) } else { nil }
        }
        submit(reports, of: .caller, service, exchange) { result in
            switch result {
            case .success(let counted):
                // What is sent again was not answered: the friends told then may have been lost with the answer.
                let isSentAgain = counted.new == 0 && counted.duplicate > 0
                answer(service, exchange, requests: requests, isSentAgain: isSentAgain, respond)
            case .failure(let problem): respond(problem.response)
            }
        }
    }

    /// The fields of a message sent as a form; `nil` for other bodies. The content type does not count: GPSLogger sends one
    /// type for every body that its user writes.
    static func messageInForm(_ request: HTTPRequest) -> [(name: String, value: String)]? {
        let first = request.body.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        guard let first, first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else { return nil }
        let fields = request.formFields
        return fields.contains { $0.name == "_type" } ? fields : nil
    }

    /// Lets a fix that the app calls its answer to `reportLocation` name the question that was passed on.
    static func answerQuestions(with reports: inout [Report], of person: PersonID?, _ service: Service) {
        let now = service.clock()
        guard let person,
            let question = service.log.withStanding({
                $0.questionsToPassOn(about: person, service.log.questions.time(at: now)).first
            })
        else { return }
        for (index, report) in reports.enumerated() {
            guard case .fix(let fix, nil) = report, OwnTracks.isAnswer(fix) else { continue }
            reports[index] = .fix(fix, answering: question)
        }
    }

    private static func answer(
        _ service: Service, _ exchange: Exchange, requests: [String], isSentAgain: Bool,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let pending = PendingAnswer(service, exchange.caller, showsAll: isSentAgain)
        guard pending.isEmpty else {
            // The thread that calls is the log's own: the friends' fixes are read and recorded on another.
            let isTaken = service.answers.submit(for: exchange.caller.principal) { context in
                respond(pending.response(service, exchange, requests: requests, context))
            }
            // The report is durable, and must not come again only because nobody has time to tell of friends.
            if !isTaken { respond(.json(OwnTracksAnswer(friends: [], isToReport: false, requests: requests).bytes)) }
            return
        }
        respond(.json(OwnTracksAnswer(friends: [], isToReport: false, requests: requests).bytes))
    }
}

/// What an OwnTracks app was shown of a friend.
struct FriendShown {
    let fix: Int64
    /// As it was shown.
    let location: Fix
    let precision: Precision

    /// Whether the app would see the same.
    func looksLike(_ other: FriendShown) -> Bool { precision == other.precision && location == other.location }
}

/// What an answer to an OwnTracks app may have to tell, before it is looked up and recorded.
private struct PendingAnswer: Sendable {
    private var friends: [(permit: Permit, handle: Handle, fix: Int64)] = []
    private var isToReport = false
    private let device: DeviceID
    /// Also what the app was shown before.
    private let showsAll: Bool

    var isEmpty: Bool { friends.isEmpty && !isToReport }

    /// - Parameter showsAll: also what the app was shown before.
    init(_ service: Service, _ caller: Caller, showsAll: Bool) {
        device = DeviceID(rawValue: caller.principal.rawValue)
        self.showsAll = showsAll
        let now = service.clock()
        let durable = service.log.head
        let (found, isAsked) = service.log.withStanding { standing in
            guard let person = standing.owner(of: caller) else { return ([(Permit, Handle, Int64)](), false) }
            let friends = standing.friends(of: person, at: now).compactMap { permit -> (Permit, Handle, Int64)? in
                guard let newest = standing.newestFix(under: permit), newest.number <= durable,
                    let handle = standing.persons[permit.subject]?.handle
                else { return nil }
                return (permit, handle, newest.number)
            }
            return (friends, !standing.questionsToPassOn(about: person, service.log.questions.time(at: now)).isEmpty)
        }
        isToReport = isAsked
        guard !found.isEmpty else { return }
        let shown = showsAll ? [:] : service.friendsShown.withLock { $0[device] ?? [:] }
        for (permit, handle, fix) in found where shown[permit.subject]?.fix != fix {
            friends.append((permit, handle, fix))
        }
    }

    /// The answer, on record. A friend who may not be shown any more takes all of them out of it: the next answer tells of
    /// the others. A coarse friend whose phone has reported is told again only when something of it can be seen.
    func response(
        _ service: Service, _ exchange: Exchange, requests: [String], _ context: AnswerContext
    ) -> HTTPResponse {
        var shown: [(permit: Permit, friend: OwnTracksAnswer.Friend, told: FriendShown)] = []
        let before = showsAll ? [:] : service.friendsShown.withLock { $0[device] ?? [:] }
        for (permit, handle, number) in friends {
            guard case .fixReported(_, _, .open(let fix))? = (try? context.reader.event(number))?.event.event,
                permit.shows(fix.timestamp)
            else { continue }
            let cell = service.log.withStanding { standing in
                standing.shownCell(of: number, at: fix.coordinate, under: permit)
            }
            let location = ShownLocation(fix, precision: permit.precision, in: cell, context)
            let told = FriendShown(fix: number, location: location.fix, precision: permit.precision)
            if permit.precision < .exact, before[permit.subject]?.looksLike(told) == true { continue }
            shown.append((permit, OwnTracksAnswer.Friend(handle: handle, fix: location.fix), told))
        }
        if shown.isEmpty, !isToReport {
            return .json(OwnTracksAnswer(friends: [], isToReport: false, requests: requests).bytes)
        }
        do throws(Problem) {
            let body = OwnTracksAnswer(friends: shown.map(\.friend), isToReport: isToReport, requests: requests).bytes
            let response = try Gate.answerDevice(service, exchange, friends: shown.map(\.permit), body: body)
            service.friendsShown.withLock { known in
                for (permit, _, told) in shown { known[device, default: [:]][permit.subject] = told }
            }
            return response
        } catch {
            return .json(OwnTracksAnswer(friends: [], isToReport: false, requests: requests).bytes)
        }
    }
}
