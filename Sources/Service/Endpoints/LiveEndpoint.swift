import Cryptography
import HTTPServer
import JSON
import SQLite
import Whereabouts

/// `GET /v1/live`: what happens about the caller, as server-sent events (HTML Living Standard, section 9.2).
enum LiveEndpoint {
    /// A client behind by more of its own events reads the audit instead.
    private static let eventsCaughtUp: Int64 = 10_000

    static func open(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let person = PersonID(rawValue: exchange.caller.principal.rawValue)
        guard let handle = service.log.withStanding({ $0.persons[person]?.handle }) else { throw .notFound }
        let head = service.log.head
        let after = try exchange.request.header("last-event-id").map { (text) throws(Problem) -> Int64 in
            guard let number = Int64(text), (0...head).contains(number) else {
                throw .invalid("Last-Event-ID must be the id of an event that this stream gave.")
            }
            return number
        }
        let question = ReadQuestion(
            subject: handle, question: .live, from: nil, to: nil, purpose: try exchange.purpose())
        let writer = LiveWriter(person: person, service: service)
        var place = head
        var missed: [RecordedEvent] = []
        if let after { (missed, place) = try Self.missed(by: person, after: after, head, service, context) }
        let text = LiveWriter.opening + missed.compactMap { writer.text(of: $0) }.joined()
        var response = try Gate.read(service, exchange, question) { _ in
            Gate.Computed(body: Array(text.utf8), count: Int64(missed.count), asOf: place)
        }
        response.headers = [("Content-Type", "text/event-stream")]
        guard !exchange.request.isHead else { return response }
        let stream = HTTPStream(bytesMax: Limits.liveBytesWaiting + response.body.count)
        stream.write(response.body)
        response.body = []
        response.stream = stream
        let patterns = try ReadEndpoints.patterns(about: person, through: place, service, context).patterns
        let live = LiveStream(
            caller: exchange.caller, person: person, question: question, correlation: exchange.id, stream: stream,
            patterns: patterns, place: place)
        guard service.deliverer.add(live) else { throw .busy(10) }
        return response
    }

    /// The person's events after a number, found by the index of streams, and how far that index has read.
    private static func missed(
        by person: PersonID, after: Int64, _ head: Int64, _ service: Service, _ context: AnswerContext
    ) throws(Problem) -> (events: [RecordedEvent], place: Int64) {
        guard service.host.wait(for: head, in: [StreamIndexTable.name], milliseconds: 10_000) else { throw .busy(1) }
        let audit = StreamID.audit(person)
        let (numbers, place) = try context.read(StreamIndexTable.name) { (connection) throws(SQLiteError) in
            var numbers: [Int64] = []
            let last = service.log.withStanding { $0.versions[audit] ?? 0 }
            // From the end back, in pages, to the last event that the client has.
            var version = last
            while version > 0, Int64(numbers.count) <= eventsCaughtUp {
                let from = max(1, version - 499)
                let page = try StreamIndexReader.numbers(
                    of: audit, fromVersion: from, count: Int(version - from + 1), in: connection)
                numbers = page.filter { $0 > after } + numbers
                if let first = page.first, first <= after { break }
                version = from - 1
            }
            return numbers
        }
        guard Int64(numbers.count) <= eventsCaughtUp else {
            throw Problem(
                410, "Gone", "Too much has happened since; read the audit, and open the stream without Last-Event-ID.")
        }
        var events: [RecordedEvent] = []
        for number in numbers {
            let found: (event: RecordedEvent, leaf: Digest)?
            do throws(LogError) { found = try context.reader.event(number) } catch { throw .broken }
            if let event = found?.event { events.append(event) }
        }
        return (events, place)
    }
}

/// One open stream.
struct LiveStream: Sendable {
    let caller: Caller
    let person: PersonID
    let question: ReadQuestion
    let correlation: RequestID
    let stream: HTTPStream
    /// What is known of how others ask, so that a finding is told when it is made.
    var patterns: AskPatterns
    /// Number of the last event that was looked at for it.
    var place: Int64
}

/// What of an event a person's own stream tells.
///
///     id: 31
///     event: query
///     data: {"number":31,"at":1777881600,"query":"6b1c…","requester":"friend","purpose":"late for dinner",…}
struct LiveWriter {
    /// A comment, so that a client sees that the stream is open; clients come back after two seconds.
    static let opening = ": open\nretry: 2000\n\n"
    static let heartbeat = ": \n\n"

    let person: PersonID
    let service: Service

    /// `nil` for what is not told: other persons' events, and the person's own questions and readings, the records of this
    /// stream among them, which would otherwise go round in a circle.
    func text(of recorded: RecordedEvent) -> String? {
        guard recorded.stream == .audit(person) else { return nil }
        let names = PrincipalNames(service)
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("number", recorded.number)
        writer.field("at", milliseconds: recorded.recordedAt.milliseconds)
        let kind: String
        switch recorded.event {
        case .locationQueried(let query):
            guard query.verdict != .own else { return nil }
            kind = "query"
            writer.field("query", query.id.description)
            writer.field("requester", names.name(query.requester))
            writer.field("purpose", query.purposeForSubject.content)
            EventJSON.write(query.verdict, into: &writer)
            writer.field("deadline", milliseconds: query.deadline.milliseconds)
        case .consentAsked(let query): kind = consent(query, "asked", into: &writer)
        case .consentGiven(let query): kind = consent(query, "given", into: &writer)
        case .consentRefused(let query): kind = consent(query, "refused", into: &writer)
        case .locationPushAttempted(let attempt):
            kind = "push"
            writer.field("query", attempt.query.description)
            writer.field("device", names.name(attempt.device))
            writer.field("attempt", attempt.attempt)
            writer.field("status", attempt.status)
            writer.field("reason", attempt.reason)
        case .locationQueryEnded(let query, let end, _):
            kind = "end"
            writer.field("query", query.description)
            writer.field("end", end.word)
        case .locationDisclosed(let disclosure):
            guard disclosure.verdict != .own else { return nil }
            kind = "disclosure"
            writer.field("query", disclosure.query.description)
            writer.field("requester", names.name(disclosure.requester))
            writer.field("precision", disclosure.precision.word)
            writer.field("latitude", disclosure.content.content?.latitude)
            writer.field("longitude", disclosure.content.content?.longitude)
            writer.field("place", disclosure.content.content?.placeName)
        case .locationRead(let read):
            guard read.verdict != .own else { return nil }
            kind = "read"
            writer.field("reader", names.name(read.reader))
            writer.field("question", read.question.word)
            writer.field("purpose", read.content.content?.purpose)
            EventJSON.write(read.verdict, into: &writer)
            writer.field("precision", read.precision.word)
            writer.field("count", read.count)
        case .locationPushStarted: return nil
        default:
            // What was changed stands in the audit, in full.
            kind = "change"
            writer.field("event", recorded.event.auditedKind.name)
            writer.field("actor", names.name(recorded.actor))
        }
        writer.endObject()
        return "id: \(recorded.number)\nevent: \(kind)\ndata: \(String(decoding: writer.bytes, as: UTF8.self))\n\n"
    }

    /// What was found with an event; the client sees the same `id`, and has both or none.
    func text(of finding: AskPatterns.Finding) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        ReadEndpoints.write(finding, timeZone: nil, into: &writer, PrincipalNames(service))
        writer.endObject()
        return "id: \(finding.number)\nevent: finding\ndata: \(String(decoding: writer.bytes, as: UTF8.self))\n\n"
    }

    private func consent(_ query: QueryID, _ word: String, into writer: inout JSONWriter) -> String {
        writer.field("query", query.description)
        writer.field("consent", word)
        return "consent"
    }
}
