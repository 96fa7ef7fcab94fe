package import Answers
package import Gazetteer
import JSON
import Log
import Replies
package import Tables
package import Whereabouts

/// The items of a person's feed, for live streams and webhooks: an event, a piece of the timeline's news, or the state
/// of an own question. For example
///
///     {"number":"r8Vu2n0mVpjCrr7a6lTqB5A","at":1777881600,"query":"6b1c…","requester":"friend","purpose":"late for dinner",…}
package struct FeedWriter {
    /// The person whose feed it is, and who reads the items.
    package let person: PersonID
    private let sources: FeedSources
    private let names: PrincipalNames
    /// How the person sees event numbers.
    package let references: References
    /// The languages for names of places.
    private let languages: [Language]

    package init(of person: PersonID, _ sources: FeedSources, in languages: [Language] = []) {
        (self.person, self.sources, names) = (person, sources, PrincipalNames(sources.decisions))
        references = sources.decisions.references(of: person)
        self.languages = languages
    }

    /// `nil` for an event that the feed omits: the person's own questions, which it follows separately, and reads. The
    /// feed's own records are reads, so to show them would never end.
    ///
    /// - Parameter recorded: An event of the person's audit stream.
    ///
    /// The events and their members beside `number` and `at`:
    /// - `query`: `query`, `requester`, `purpose`, the verdict, `deadline`
    /// - `consent`: `query`, `consent` (`asked`, `given` or `refused`)
    /// - `push`: `query`, `device`, `attempt`, `outcome`, `status`, `reason`
    /// - `end`: `query`, `end`
    /// - `disclosure`: `query`, `requester`, `precision`, and the shown place unless it is erased
    /// - `read`: `reader`, `question`, `purpose`, the verdict, `precision`, `count`
    /// - `silence`: `device`, `after` (seconds), `since`
    /// - `change`: `event`, `actor`
    package func item(of recorded: RecordedEvent) -> FeedItem? {
        if case .phoneFellSilent(let silence) = recorded.event { return item(of: silence, recorded) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("number", references.event(recorded.number))
        writer.field("at", milliseconds: recorded.recordedAt.milliseconds)
        let kind: String
        switch recorded.audited {
        case .query(let query):
            guard query.verdict != .own else { return nil }
            kind = "query"
            writer.field("query", query.id.description)
            writer.field("requester", names.name(query.requester))
            writer.field("purpose", query.purposeForSubject.content)
            writer.members(of: VerdictItem(query.verdict, references))
            writer.field("deadline", milliseconds: query.deadline.milliseconds)
        case .consent(let query, let step):
            kind = "consent"
            writer.field("query", query.description)
            writer.field("consent", step.word)
        case .attempt(let attempt):
            kind = "push"
            writer.field("query", attempt.query.description)
            writer.field("device", names.name(attempt.device))
            writer.field("attempt", attempt.attempt)
            writer.field("outcome", attempt.outcome.word)
            writer.field("status", attempt.status)
            writer.field("reason", attempt.reason)
        case .withheld(let query, let reason):
            kind = "push"
            writer.field("query", query.description)
            writer.field("attempt", 0)
            writer.field("outcome", LocationPushAttempt.Outcome.withheld.word)
            writer.field("reason", reason.word)
        case .queryEnd(let query, let end, _):
            kind = "end"
            writer.field("query", query.description)
            writer.field("end", end.word)
        case .disclosure(let disclosure):
            guard disclosure.verdict != .own else { return nil }
            kind = "disclosure"
            writer.field("query", disclosure.query.description)
            writer.field("requester", names.name(disclosure.requester))
            writer.field("precision", disclosure.precision.word)
            writer.field("latitude", disclosure.content.content?.latitude)
            writer.field("longitude", disclosure.content.content?.longitude)
            writer.field("place", disclosure.content.content?.placeName)
        case .read(let read):
            guard read.verdict != .own else { return nil }
            kind = "read"
            writer.field("reader", names.name(read.reader))
            writer.field("question", read.question.word)
            writer.field("purpose", read.content.content?.purpose)
            writer.members(of: VerdictItem(read.verdict, references))
            writer.field("precision", read.precision.word)
            writer.field("count", read.count)
        case .change, .erasure:
            // The audit has the details of a change.
            kind = "change"
            writer.field("event", recorded.event.kind.name)
            writer.field("actor", names.name(recorded.actor))
        // The last four are in no person's audit stream.
        case .nothing, .quietChange, .pushStart, .refusals, .rejection, .act, .actFailed: return nil
        }
        writer.endObject()
        return FeedItem(
            question: .live, event: kind, number: recorded.number, at: recorded.recordedAt, data: writer.bytes)
    }

    /// A device that has fallen silent.
    private func item(of silence: Silence, _ recorded: RecordedEvent) -> FeedItem {
        FeedItem(
            question: .live, event: "silence", number: recorded.number, at: recorded.recordedAt,
            data: object { writer in
                writer.field("number", references.event(recorded.number))
                writer.field("at", milliseconds: recorded.recordedAt.milliseconds)
                writer.field("device", names.name(silence.device))
                writer.field("after", silence.afterSeconds)
                writer.field("since", milliseconds: silence.since.milliseconds)
            }, silence: silence)
    }

    /// The characters of a rejected report in the feed; the list of devices has all of it.
    private static let rejectedCharacters = 500

    /// A report that was rejected, so that its owner sees that the device is not set up well.
    ///
    /// - Parameter input: The beginning of the report; `nil` if its key is destroyed.
    package func item(
        of recorded: RecordedEvent, rejected input: RejectedInput?, from device: DeviceID, _ reason: RejectionReason
    ) -> FeedItem {
        FeedItem(
            question: .live, event: "rejected", number: recorded.number, at: recorded.recordedAt,
            data: object { writer in
                writer.field("number", references.event(recorded.number))
                writer.field("at", milliseconds: recorded.recordedAt.milliseconds)
                writer.field("device", names.name(device))
                reason.writeMembers(into: &writer)
                writer.field("text", input.map { String($0.text.unicodeScalars.prefix(Self.rejectedCharacters)) })
                let contact = sources.deviceContacts.contact(of: device)
                writer.field("app", contact?.userAgent)
                writer.field("lastContact", milliseconds: (contact?.at ?? recorded.recordedAt).milliseconds)
                let newest = sources.decisions.log.withStanding { $0.devices[device]?.reports.newestTimestamp }
                writer.field("lastFix", milliseconds: newest?.milliseconds)
            })
    }

    /// A finding that an event completed.
    package func item(of finding: AskPatterns.Finding) -> FeedItem {
        FeedItem(
            question: .live, event: "finding", number: finding.number, at: finding.to,
            data: object { writer in
                writer.members(of: FindingItem(finding, timeZone: nil, names, references))
            })
    }

    /// A visit or crossing, in the form of the reads. `withdrawn` says that an earlier item no longer holds.
    package func item(of told: TimelineReader.Told, _ context: AnswerContext) -> FeedItem {
        switch told.what {
        case .visit(let visit):
            FeedItem(
                question: .visits, event: "visit", number: told.number, at: visit.departure ?? visit.arrival,
                data: object { writer in
                    head(of: told, into: &writer)
                    let name =
                        sources.decisions.corrections(of: person).name(at: visit.coordinate)
                        ?? context.placemark(at: visit.coordinate, in: languages)?.shortAddress
                    writer.members(of: VisitItem(visit, placeName: name, context))
                })
        case .crossing(let crossing):
            FeedItem(
                question: .crossings, event: "crossing", number: told.number, at: crossing.crossing.time,
                data: object { writer in
                    head(of: told, into: &writer)
                    writer.members(of: CrossingItem(crossing))
                })
        }
    }

    /// The state of an own question without its answer: showing that is a disclosure with its own record.
    package func item(of query: QueryID, about subject: PersonID?, status: String, at now: Timestamp) -> FeedItem {
        FeedItem(
            question: .live, event: "asked", number: 0, at: now,
            data: object { writer in
                writer.field("query", query.description)
                writer.field("subject", subject.flatMap { names.name($0.principal) })
                writer.field("status", status)
                writer.field("url", "/v1/location-queries/\(query)")
            })
    }

    /// Writes the members that visits and crossings share.
    private func head(of told: TimelineReader.Told, into writer: inout JSONWriter) {
        writer.field("number", references.event(told.number))
        if told.isWithdrawn { writer.field("withdrawn", true) }
    }

    /// The bytes of an object with these members.
    private func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        members(&writer)
        writer.endObject()
        return writer.bytes
    }
}
