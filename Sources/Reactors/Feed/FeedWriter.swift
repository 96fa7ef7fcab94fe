package import Answers
package import Gazetteer
import Log
import Replies
package import Tables
package import Whereabouts
import WireFormats

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
    /// `Replies/FeedItems.swift` has the members of each kind.
    package func item(of recorded: RecordedEvent) -> FeedItem? {
        let head = head(of: recorded)
        if case .phoneFellSilent(let silence) = recorded.event {
            let item = FeedSilenceItem(
                head: head, device: names.name(silence.device), after: silence.afterSeconds,
                since: Moment(silence.since))
            var told = FeedItem("silence", item, of: recorded)
            told.silence = silence
            return told
        }
        switch recorded.audited {
        case .query(let query):
            guard query.verdict != .own else { return nil }
            let item = FeedQueryItem(
                head: head, query: query.id.description, requester: names.name(query.requester),
                purpose: query.purposeForSubject.content, verdict: VerdictItem(query.verdict, references),
                deadline: Moment(query.deadline))
            return FeedItem("query", item, of: recorded)
        case .consent(let query, let step):
            let item = FeedConsentItem(head: head, query: query.description, consent: step.word)
            return FeedItem("consent", item, of: recorded)
        case .attempt(let attempt):
            let item = FeedPushItem(
                head: head, query: attempt.query.description, device: names.name(attempt.device),
                attempt: attempt.attempt, outcome: attempt.outcome.word, status: attempt.status,
                reason: attempt.reason)
            return FeedItem("push", item, of: recorded)
        case .withheld(let query, let reason):
            let item = FeedPushItem(
                head: head, query: query.description, attempt: 0,
                outcome: LocationPushAttempt.Outcome.withheld.word, reason: reason.word)
            return FeedItem("push", item, of: recorded)
        case .queryEnd(let query, let end, _):
            return FeedItem(
                "end", FeedEndItem(head: head, query: query.description, end: end.word), of: recorded)
        case .disclosure(let disclosure):
            guard disclosure.verdict != .own else { return nil }
            let shown = disclosure.content.content
            let item = FeedDisclosureItem(
                head: head, query: disclosure.query.description, requester: names.name(disclosure.requester),
                precision: disclosure.precision.word,
                at: shown.flatMap { shown in
                    guard let latitude = shown.latitude, let longitude = shown.longitude else { return nil }
                    return .degrees(latitude: latitude, longitude: longitude)
                }, place: shown?.placeName)
            return FeedItem("disclosure", item, of: recorded)
        case .read(let read):
            guard read.verdict != .own else { return nil }
            let item = FeedReadItem(
                head: head, reader: names.name(read.reader), question: read.question.word,
                purpose: read.content.content?.purpose, verdict: VerdictItem(read.verdict, references),
                precision: read.precision.word, count: read.count)
            return FeedItem("read", item, of: recorded)
        case .change, .erasure:
            // The audit has the details of a change.
            let item = FeedChangeItem(
                head: head, event: recorded.event.kind.name, actor: names.name(recorded.actor))
            return FeedItem("change", item, of: recorded)
        // The last four are in no person's audit stream.
        case .nothing, .quietChange, .pushStart, .refusals, .rejection, .act, .actFailed: return nil
        }
    }

    /// The characters of a rejected report in the feed; the list of devices has all of it.
    private static let rejectedCharacters = 500

    /// A report that was rejected, so that its owner sees that the device is not set up well.
    ///
    /// - Parameter input: The beginning of the report; `nil` if its key is destroyed.
    package func item(
        of recorded: RecordedEvent, rejected input: RejectedInput?, from device: DeviceID, _ reason: RejectionReason
    ) -> FeedItem {
        let contact = sources.deviceContacts.contact(of: device)
        let newest = sources.decisions.log.withStanding { $0.devices[device]?.reports.newestTimestamp }
        let item = FeedRejectedItem(
            head: head(of: recorded), device: names.name(device), reason: reason.word, detail: reason.sentence,
            text: input.map { String($0.text.unicodeScalars.prefix(Self.rejectedCharacters)) },
            app: contact?.userAgent, lastContact: Moment(contact?.at ?? recorded.recordedAt),
            lastFix: newest.map { Moment($0) })
        return FeedItem("rejected", item, of: recorded)
    }

    /// A finding that an event completed.
    package func item(of finding: AskPatterns.Finding) -> FeedItem {
        let item = FindingItem(finding, timeZone: nil, names, references)
        return FeedItem(
            question: .live, event: "finding", number: finding.number, at: finding.to, data: item.bytes)
    }

    /// A visit or crossing, in the form of the reads. `withdrawn` says that an earlier item no longer holds.
    package func item(of told: TimelineReader.Told, _ context: AnswerContext) -> FeedItem {
        switch told.what {
        case .visit(let visit):
            let corrections = sources.decisions.corrections(of: person)
            let naming = corrections.namingCoordinate(at: visit.coordinate)
            let name =
                corrections.name(at: visit.coordinate)
                ?? context.placemark(at: naming, in: languages)?.shortAddress
            return FeedItem(
                question: .visits, event: "visit", number: told.number, at: visit.departure ?? visit.arrival,
                data: data(of: told, VisitItem(visit, placeName: name, context)))
        case .crossing(let crossing):
            let area = sources.decisions.log.withStanding { $0.regions[crossing.crossing.region]?.area }
            var item = CrossingItem(crossing)
            item.timeZone = area.flatMap { context.timeZone(at: $0.anchor) }
            return FeedItem(
                question: .crossings, event: "crossing", number: told.number, at: crossing.crossing.time,
                data: data(of: told, item))
        }
    }

    /// The state of an own question without its answer: showing that is a disclosure with its own record.
    package func item(of query: QueryID, about subject: PersonID?, status: String, at now: Timestamp) -> FeedItem {
        let item = FeedAskedItem(
            query: query.description, subject: subject.flatMap { names.name($0.principal) }, status: status,
            url: "/v1/location-queries/\(query)")
        return FeedItem(question: .live, event: "asked", number: 0, at: now, data: item.bytes)
    }

    private func head(of recorded: RecordedEvent) -> FeedHead {
        FeedHead(number: references.event(recorded.number), at: Moment(recorded.recordedAt))
    }

    private func data(of told: TimelineReader.Told, _ item: some Reply) -> [UInt8] {
        FeedTimelineItem(number: references.event(told.number), isWithdrawn: told.isWithdrawn, item: item).bytes
    }
}

extension FeedItem {
    /// An item about an event, for which the right to the feed is enough.
    fileprivate init(_ name: String, _ item: some Reply, of recorded: RecordedEvent) {
        self.init(
            question: .live, event: name, number: recorded.number, at: recorded.recordedAt, data: item.bytes)
    }
}
