import Answers
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
    ///
    /// Friends are shown under their grants, and each is recorded as a read with the question `friends` before the
    /// answer leaves.
    ///
    /// - Throws: Nothing because of the content; 503 with `Retry-After` if the log takes no more commands, 507 on a
    ///   full disk.
    package func ownTracks(
        _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let box = secretBox(of: exchange.caller)
        // The Android app repeats a message that is refused, without end.
        var reports =
            exchange.request.droppedBytes > 0
            ? [.rejected(.tooLarge)]
            : Self.messageInForm(exchange.request).map { OwnTracks.reports(ofForm: $0, now: decisions.clock()) }
                ?? OwnTracks.reports(
                    from: exchange.request.body, now: decisions.clock(),
                    opening: box.map { box in { box.open(base64: $0) } })
        decisions.answerQuestions(with: &reports, of: DeviceID(rawValue: exchange.caller.principal.rawValue))
        let requests = reports.compactMap { report in
            if case .message("request", let text) = report { OwnTracks.request(text) } else { nil }
        }
        submit(reports, of: .caller, exchange) { result in
            switch result {
            case .success(let (counted, _)):
                // The app did not get the last answer if it repeats a message, so the friends in that answer may be
                // lost.
                let isSentAgain = counted.new == 0 && counted.duplicate > 0
                answer(exchange, requests: requests, isSentAgain: isSentAgain, respond)
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

    /// The key for the payloads that the device's OwnTracks app encrypts; `nil` without one.
    private func secretBox(of device: Caller) -> SecretBox? {
        if secretBoxes.isEmpty { return nil }
        let handle = decisions.log.withStanding { $0.devices[DeviceID(rawValue: device.principal.rawValue)]?.handle }
        return handle.flatMap { secretBoxes[$0] }
    }

    /// Answers with the friends' locations. Without friends and waiting queries it answers at once, on the log's
    /// thread.
    ///
    /// - Parameter isSentAgain: The app repeats its message, so it gets all friends and not only those that moved.
    private func answer(
        _ exchange: Exchange, requests: [String], isSentAgain: Bool,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let pending = PendingAnswer(decisions, friendsShown, exchange.caller, showsAll: isSentAgain)
        guard pending.isEmpty else {
            // This thread is the log's: the friends' fixes are read and recorded on an answering thread.
            let isTaken = answers.submit(for: exchange.caller.principal) { context in
                respond(pending.response(gate, friendsShown, exchange, requests: requests, context))
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

/// The last location of each friend that each OwnTracks app was shown.
final class FriendsShown: Sendable {
    private let known = Mutex<[DeviceID: [PersonID: FriendShown]]>([:])

    /// The friends that a device was shown.
    func shown(to device: DeviceID) -> [PersonID: FriendShown] { known.withLock { $0[device] ?? [:] } }

    /// Notes what a device is shown.
    func note(_ friends: [(person: PersonID, shown: FriendShown)], to device: DeviceID) {
        known.withLock { known in
            for friend in friends { known[device, default: [:]][friend.person] = friend.shown }
        }
    }
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
    init(_ decisions: Decisions, _ friendsShown: FriendsShown, _ caller: Caller, showsAll: Bool) {
        device = DeviceID(rawValue: caller.principal.rawValue)
        self.showsAll = showsAll
        let now = decisions.clock()
        let durable = decisions.log.head
        let (found, isAsked) = decisions.log.withStanding { standing in
            guard let person = standing.owner(of: caller) else { return ([(Permit, Handle, Int64)](), false) }
            let friends = standing.friends(of: person, at: now).compactMap { permit -> (Permit, Handle, Int64)? in
                guard let newest = standing.newestFix(under: permit), newest.number <= durable,
                    let handle = standing.persons[permit.subject]?.handle
                else { return nil }
                return (permit, handle, newest.number)
            }
            let isAsked = !standing.questionsToPassOn(about: person) {
                decisions.log.questions.time(of: $0, $1, at: now)
            }.isEmpty
            return (friends, isAsked)
        }
        isToReport = isAsked
        guard !found.isEmpty else { return }
        let shown = showsAll ? [:] : friendsShown.shown(to: device)
        for (permit, handle, fix) in found where shown[permit.subject]?.fix != fix {
            friends.append((permit, handle, fix))
        }
    }

    /// The answer, after its disclosures are on record. If one friend's grant has ended in the meantime, the answer has
    /// no friends at all, and the next one has the others. A friend with a coarse grant is included again only if the
    /// location looks different.
    func response(
        _ gate: Gate, _ friendsShown: FriendsShown, _ exchange: Exchange, requests: [String], _ context: AnswerContext
    ) -> HTTPResponse {
        var shown: [(permit: Permit, friend: OwnTracksAnswer.Friend, told: FriendShown)] = []
        let before = showsAll ? [:] : friendsShown.shown(to: device)
        for (permit, handle, number) in friends {
            guard case .fixReported(_, _, .open(let fix))? = (try? context.reader.event(number))?.event.event,
                permit.shows(fix)
            else { continue }
            guard
                let location = ShownLocation(fix, of: number, under: permit, gate.decisions, context).fix
            else { continue }
            let told = FriendShown(fix: number, location: location, precision: permit.precision)
            if permit.precision < .exact, before[permit.subject]?.looksLike(told) == true { continue }
            shown.append((permit, OwnTracksAnswer.Friend(handle: handle, fix: location), told))
        }
        if shown.isEmpty, !isToReport {
            return .json(OwnTracksAnswer(friends: [], isToReport: false, requests: requests).bytes)
        }
        do throws(Problem) {
            let body = OwnTracksAnswer(friends: shown.map(\.friend), isToReport: isToReport, requests: requests).bytes
            let disclosed = try gate.answerDevice(exchange, friends: shown.map(\.permit), body: body)
            friendsShown.note(shown.map { ($0.permit.subject, $0.told) }, to: device)
            return disclosed.leave()
        } catch {
            return .json(OwnTracksAnswer(friends: [], isToReport: false, requests: requests).bytes)
        }
    }
}
