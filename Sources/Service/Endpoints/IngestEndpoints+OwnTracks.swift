import Cryptography
import HTTPServer
import Log
import Synchronization
import Whereabouts
import WireFormats

extension IngestEndpoints {
    /// `POST /owntracks` and `/pub`: takes a message of an OwnTracks app. Once it is durable, the answer has the
    /// locations of the owner's friends, and asks for a report if a query waits for the owner.
    ///
    /// A message is never refused because of its content: a rejected one is kept, and answered like any other.
    static func ownTracks(
        _ service: Service, _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let box = service.secretBox(of: exchange.caller)
        // The Android app repeats a message that is refused, without end.
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
                // The app did not get the last answer if it repeats a message, so the friends in that answer may be
                // lost.
                let isSentAgain = counted.new == 0 && counted.duplicate > 0
                answer(service, exchange, requests: requests, isSentAgain: isSentAgain, respond)
            case .failure(let problem): respond(problem.response)
            }
        }
    }

    /// The fields of a message sent as a form; `nil` for other bodies. The content type is ignored: GPSLogger sends the
    /// same type for every body that its user writes.
    static func messageInForm(_ request: HTTPRequest) -> [(name: String, value: String)]? {
        let first = request.body.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        guard let first, first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else { return nil }
        let fields = request.formFields
        return fields.contains { $0.name == "_type" } ? fields : nil
    }

    /// Adds to a fix the query that it answers, if the app marks the fix as its answer to `reportLocation`.
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

    /// Answers with the friends' locations. Without friends and waiting queries it answers at once, on the log's
    /// thread.
    private static func answer(
        _ service: Service, _ exchange: Exchange, requests: [String], isSentAgain: Bool,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let pending = PendingAnswer(service, exchange.caller, showsAll: isSentAgain)
        guard pending.isEmpty else {
            // This thread is the log's: the friends' fixes are read and recorded on an answering thread.
            let isTaken = service.answers.submit(for: exchange.caller.principal) { context in
                respond(pending.response(service, exchange, requests: requests, context))
            }
            // The report is durable. A busy answer would make the app send it again.
            if !isTaken { respond(.json(OwnTracksAnswer(friends: [], isToReport: false, requests: requests).bytes)) }
            return
        }
        respond(.json(OwnTracksAnswer(friends: [], isToReport: false, requests: requests).bytes))
    }
}

/// A friend's location in the form in which an OwnTracks app was shown it. Kept in memory, so that the same location is
/// not sent with each answer.
struct FriendShown {
    /// The number of the fix in the log.
    let fix: Int64
    /// The location with the precision of the grant.
    let location: Fix
    let precision: Precision

    /// Whether two locations look the same in the app.
    func looksLike(_ other: FriendShown) -> Bool { precision == other.precision && location == other.location }
}

/// The content of an answer to an OwnTracks app, before the friends are looked up and recorded.
private struct PendingAnswer: Sendable {
    private var friends: [(permit: Permit, handle: Handle, fix: Int64)] = []
    private var isToReport = false
    private let device: DeviceID
    /// Whether to include friends whose location the app was shown already.
    private let showsAll: Bool

    /// Whether an answer needs no record: it shows no friend and asks for no report.
    var isEmpty: Bool { friends.isEmpty && !isToReport }

    /// - Parameter showsAll: Whether to include friends whose location the app was shown already.
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

    /// The answer, after its disclosures are on record. If one friend's grant has ended in the meantime, the answer has
    /// no friends at all, and the next one has the others. A friend with a coarse grant is included again only if the
    /// location looks different.
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
