import Cryptography
import Geodesy
import JSON
import Log
import Whereabouts
import WireFormats

/// The JSON form of an event in `whereabouts events` and `GET /v1/events`.
///
/// Members of the header come first, then `content`, whose members depend on the kind. A part whose key is destroyed or
/// lost is `"sealed": "erased"` or `"sealed": "keyLost"` instead of its members.
enum EventJSON {
    /// One event of the log for the operator, who sees the log's own numbers.
    struct Item {
        let stored: LogReader.StoredEvent
        /// The event with its sealed parts opened, or `nil` to print it as stored.
        let opened: RecordedEvent?

        /// Writes the event as one object. With `opened` its `content`, otherwise its `body` in hexadecimal.
        ///
        /// Members: `number`, `kind` (the name, or the number of an unknown kind), `stream`, `version`, `recordedAt`,
        /// `actor`, `correlation`, `cause` (absent without one), `leaf` (64 hexadecimal digits), then `content` or
        /// `body`.
        func write(into writer: inout JSONWriter, _ service: Service) {
            let header = stored.header
            writer.beginObject()
            writer.field("number", header.number)
            writer.field("kind", EventKind(rawValue: header.kind)?.name ?? "\(header.kind)")
            writer.field("stream", header.stream.rawValue)
            writer.field("version", header.version)
            writer.field("recordedAt", milliseconds: header.recordedAt.milliseconds)
            writer.field("actor", header.actor.rawValue)
            writer.field("correlation", header.correlation.description)
            writer.field("cause", header.cause)
            writer.field("leaf", stored.leaf.hex)
            if let opened {
                writer.object("content") { writer in EventJSON.write(opened.event, into: &writer) }
            } else {
                writer.field("body", Hex.encode(stored.body))
            }
            writer.endObject()
        }
    }

    /// Writes the content of an event into an open object. Secrets are left out: of a device token only the last four
    /// bytes, of a webhook only its origin.
    ///
    /// - Ids are the log's numbers; queries and push ids are UUIDs. A `nil` member is absent.
    /// - Times are Unix seconds; durations have their unit in the name.
    /// - Enumerations are words, for example `"precision":"kilometer"`.
    /// - Hashes are hexadecimal: `answerSHA256` of an answer's bytes, `sha256` of a rejected input, whose text is not
    ///   shown.
    static func write(_ event: Event, into writer: inout JSONWriter) {
        switch event {
        case .personAdded(let person, let handle):
            writer.field("person", person.rawValue)
            part(handle, into: &writer) { $1.field("handle", $0.text) }
        case .deviceAdded(let device, let person, let handle):
            writer.field("device", device.rawValue)
            writer.field("person", person.rawValue)
            part(handle, into: &writer) { $1.field("handle", $0.text) }
        case .deviceRemoved(let device): writer.field("device", device.rawValue)
        case .tokenIssued(let token):
            writer.field("token", token.id.rawValue)
            writer.field("principal", token.principal.rawValue)
            writer.array("scopes") { writer in for word in token.scopes.words { writer.value(word) } }
            writer.field("until", milliseconds: token.until?.milliseconds)
        case .tokenRevoked(let token): writer.field("token", token.rawValue)
        case .grantGiven(let grant):
            writer.field("grant", grant.id.rawValue)
            writer.field("requester", grant.requester?.rawValue)
            writer.field("precision", grant.precision.word)
            writer.field("history", grant.includesHistory)
            writer.field("asksEachTime", grant.asksEachTime)
            writer.field("from", milliseconds: grant.from?.milliseconds)
            writer.field("until", milliseconds: grant.until?.milliseconds)
            writer.field("invitation", grant.invitation?.rawValue)
            if let detail = grant.detail {
                part(detail, into: &writer) { detail, writer in
                    writer.field("name", detail.name?.text)
                    hours(detail.hours, into: &writer)
                }
            }
        case .grantRevoked(let grant):
            writer.field("grant", grant.rawValue)
        case .sharingPaused(let person, let until):
            writer.field("person", person.rawValue)
            writer.field("until", milliseconds: until?.milliseconds)
        case .sharingResumed(let person): writer.field("person", person.rawValue)
        case .invitationMade(let invitation):
            writer.field("invitation", invitation.id.rawValue)
            writer.field("expires", milliseconds: invitation.expires.milliseconds)
            writer.field("precision", invitation.terms.precision.word)
            writer.field("history", invitation.terms.includesHistory)
            writer.field("asksEachTime", invitation.terms.asksEachTime)
            writer.field("from", milliseconds: invitation.terms.from?.milliseconds)
            writer.field("until", milliseconds: invitation.terms.until?.milliseconds)
            if let detail = invitation.detail { part(detail, into: &writer) { hours($0, into: &$1) } }
        case .invitationWithdrawn(let invitation): writer.field("invitation", invitation.rawValue)
        case .invitationRefused(let principal): writer.field("principal", principal.rawValue)
        case .accountInvitationMade(_, let expires): writer.field("expires", milliseconds: expires.milliseconds)
        case .accountInvitationClosed(let invitation): writer.field("invitation", invitation.rawValue)
        case .consentAsked(let query), .consentGiven(let query), .consentRefused(let query):
            writer.field("query", query.description)
        case .regionAdded(let id, let region):
            writer.field("region", id.rawValue)
            part(region, into: &writer) { region, writer in
                writer.field("identifier", region.identifier)
                RegionJSON.writeMembers(of: region, into: &writer)
            }
        case .regionRemoved(let id): writer.field("region", id.rawValue)
        case .fixReported(let device, let query, let fix):
            writer.field("device", device.rawValue)
            writer.field("answering", query?.description)
            part(fix, into: &writer) { fix, writer in
                writer.key("fix")
                FixJSON.write(fix, into: &writer)
            }
        case .inputRejected(let device, let reason, let length, let input):
            writer.field("device", device.rawValue)
            writer.field("reason", reason.word)
            writer.field("length", length)
            part(input, into: &writer) { $1.field("sha256", Hex.encode($0.hash.bytes)) }
        case .scheduleSet(let seconds, let until):
            writer.field("everySeconds", seconds)
            writer.field("until", milliseconds: until?.milliseconds)
        case .scheduleRemoved(let schedule): writer.field("schedule", schedule.rawValue)
        case .webhookAdded(let token, let topics, let target):
            writer.field("token", token.rawValue)
            writer.array("topics") { writer in for word in topics.words { writer.value(word) } }
            // The rest of the URL may hold a secret of the receiver.
            part(target, into: &writer) { $1.field("target", $0.origin) }
        case .webhookRemoved(let webhook): writer.field("webhook", webhook.rawValue)
        case .webhookSettled(let webhook, let settlement):
            writer.field("webhook", webhook.rawValue)
            switch settlement {
            case .told(let number): writer.field("told", number)
            case .taken(let letter): writer.field("taken", letter.rawValue)
            case .discarded(let letter): writer.field("discarded", letter.rawValue)
            }
        case .webhookFailed(let failure):
            writer.field("webhook", failure.webhook.rawValue)
            writer.field("item", failure.item.number)
            writer.field("tries", failure.tries)
            writer.field("status", failure.status)
            writer.field("reason", failure.reason)
            part(failure.message, into: &writer) { message, writer in
                writer.key("message")
                writer.raw(message.body)
            }
        case .correctionMade(let correction):
            part(correction, into: &writer) { CorrectionEndpoints.writeMembers(of: $0, into: &$1) }
        case .correctionWithdrawn(let correction): writer.field("correction", correction.rawValue)
        case .authorizationReported(let device, let report):
            writer.field("device", device.rawValue)
            part(report, into: &writer) { report, writer in ReportJSON.writeMembers(of: report, into: &writer) }
        case .sightingReported(let device, _, let sighting):
            writer.field("device", device.rawValue)
            part(sighting, into: &writer) { sighting, writer in ReportJSON.writeMembers(of: sighting, into: &writer) }
        case .messageReported(let device, let message):
            writer.field("device", device.rawValue)
            part(message, into: &writer) {
                $1.field("type", $0.type)
                $1.key("message")
                $1.raw($0.text.utf8)
            }
        case .locationPushTokenRegistered(let device, let environment, let token):
            writer.field("device", device.rawValue)
            writer.field("environment", environment.word)
            // The device token is a secret: its last bytes are enough to distinguish two.
            part(token, into: &writer) {
                $1.field("bundleID", $0.bundleID)
                $1.field("tokenEnding", Hex.encode($0.bytes.suffix(4)))
            }
        case .locationPushTokenRetired(let device, let reason):
            writer.field("device", device.rawValue)
            writer.field("reason", reason)
        case .locationQueried(let query):
            writer.field("query", query.id.description)
            writer.field("subject", query.subject?.rawValue)
            writer.field("requester", query.requester.rawValue)
            write(query.verdict, into: &writer)
            writer.field("initiation", query.initiation.word)
            writer.field("deadline", milliseconds: query.deadline.milliseconds)
            writer.field("maxAgeSeconds", query.maxAgeSeconds)
            part(query.subject == nil ? query.purposeForRequester ?? .erased : query.purposeForSubject, into: &writer) {
                $1.field("purpose", $0)
            }
        case .locationPushStarted(let query, let device), .locationReportCommanded(let query, let device):
            writer.field("query", query.description)
            writer.field("device", device.rawValue)
        case .locationPushWithheld(let query, let reason):
            writer.field("query", query.description)
            writer.field("reason", reason.word)
        case .locationPushAttempted(let attempt):
            writer.field("query", attempt.query.description)
            write(attempt, into: &writer)
        case .locationPushTested(let attempt):
            writer.field("test", attempt.query.description)
            write(attempt, into: &writer)
        case .locationQueryEnded(let query, let end, let fix):
            writer.field("query", query.description)
            writer.field("end", end.word)
            writer.field("fix", fix)
        case .locationDisclosed(let disclosure):
            writer.field("query", disclosure.query.description)
            writer.field("requester", disclosure.requester.rawValue)
            write(disclosure.verdict, into: &writer)
            writer.field("precision", disclosure.precision.word)
            writer.field("fix", disclosure.fix)
            part(disclosure.content, into: &writer) { content, writer in
                writer.field("latitude", content.latitude)
                writer.field("longitude", content.longitude)
                writer.field("horizontalAccuracy", content.horizontalAccuracy)
                writer.field("timestamp", milliseconds: content.timestamp.milliseconds)
                writer.field("place", content.placeName)
                writer.field("answerSHA256", Hex.encode(content.answerHash.bytes))
            }
        case .locationRead(let read):
            writer.field("reader", read.reader.rawValue)
            writer.field("question", read.question.word)
            write(read.verdict, into: &writer)
            writer.field("precision", read.precision.word)
            writer.field("asOf", read.asOf)
            writer.field("count", read.count)
            writer.field("continuing", read.continuing?.description)
            part(read.content, into: &writer) { content, writer in
                writer.field("purpose", content.purpose)
                writer.field("from", milliseconds: content.from?.milliseconds)
                writer.field("to", milliseconds: content.to?.milliseconds)
                writer.field("answerSHA256", content.answerHash.map { Hex.encode($0.bytes) })
            }
        case .refusalsCounted(let principal, let count, let since):
            writer.field("principal", principal.rawValue)
            writer.field("count", count)
            writer.field("since", milliseconds: since.milliseconds)
        case .personErased(let person): writer.field("person", person.rawValue)
        case .clockSteppedBack(let milliseconds): writer.field("milliseconds", milliseconds)
        case .logRestored(let epoch): writer.field("epoch", epoch)
        case .operatorActed(let act):
            writer.field("act", act.word)
            writer.field("projection", act.projection)
            writer.field("version", act.version)
            switch act {
            case .retryMessage(let webhook, let letter):
                writer.field("webhook", webhook.rawValue)
                writer.field("letter", letter.rawValue)
            case .failed(let number): writer.field("failed", number)
            default: break
            }
        case .lossAccepted(let from, let to, let epoch):
            writer.field("from", from)
            writer.field("to", to)
            writer.field("epoch", epoch)
        }
    }

    /// Writes the members of a push attempt that queries and tests share.
    ///
    /// `outcome` is absent while a test push is leaving; `status` and `reason` are absent without an answer by APNs.
    private static func write(_ attempt: LocationPushAttempt, into writer: inout JSONWriter) {
        writer.field("device", attempt.device.rawValue)
        writer.field("attempt", attempt.attempt)
        writer.field("apnsID", attempt.apnsID.description)
        if !attempt.isTestLeaving { writer.field("outcome", attempt.outcome.word) }
        writer.field("status", attempt.status)
        writer.field("reason", attempt.reason)
        writer.field("startedAt", milliseconds: attempt.startedAt?.milliseconds)
        writer.field("durationMilliseconds", attempt.durationMilliseconds)
        writer.field("environment", attempt.environment?.word)
        writer.field("priority", attempt.priority)
        writer.field("tokenHash", attempt.tokenHash?.hex)
        writer.field("apnsUniqueID", attempt.uniqueID)
    }

    /// Writes `verdict`, and the `grant` or the `reason` of a refusal.
    ///
    /// - Parameter references: How the reader sees numbers; `nil` writes them as they are.
    static func write(_ verdict: Verdict, _ references: References? = nil, into writer: inout JSONWriter) {
        switch verdict {
        case .own: writer.field("verdict", "own")
        case .operatorOnRecord: writer.field("verdict", "operator")
        case .granted(let grant):
            writer.field("verdict", "granted")
            writer.field("grant", references?.name(grant.rawValue, .grant) ?? .number(grant.rawValue))
        case .refused(let reason):
            writer.field("verdict", "refused")
            writer.field("reason", reason.word)
        }
    }

    /// The IANA zone and the weekly text, for example `Mo-Fr 08:00-18:00`; both absent without hours.
    private static func hours(_ hours: WeeklyHours?, into writer: inout JSONWriter) {
        writer.field("timeZone", hours?.zone.name)
        writer.field("hours", hours?.text)
    }

    /// Writes an opened part with `open`, or `sealed` with the reason why it cannot be opened.
    private static func part<Content>(
        _ part: Part<Content>, into writer: inout JSONWriter, _ open: (Content, inout JSONWriter) -> Void
    ) {
        switch part {
        case .open(let content): open(content, &writer)
        case .erased: writer.field("sealed", "erased")
        case .keyLost: writer.field("sealed", "keyLost")
        }
    }
}
