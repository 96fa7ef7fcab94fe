import Geodesy

// The bytes of an event, before sealing and after opening. The whole body in the log is a CBOR array
//
//     [clear, [key id, nonce, ciphertext ‖ tag] …]
//
// where `clear` and each plaintext are maps with small integer keys; `events.cddl` beside the Events page of the catalog
// lists them. Example, a fix with 5 m accuracy at 2026-01-01T00:00:00Z, 52.5211557 °N 13.4038584 °E from device 3:
//
//     clear      A1 01 03
//     plaintext  A4 01 1B 0000019B76DA8800 02 1A 1F4E0C05 03 1A 07FD3F08 04 05
//
// A stored form is never edited. A new field gets a new key with a meaning for its absence. A changed meaning gets a
// new kind, and `decode` continues to read the old one.

/// The key that seals a part: retention erases the track earlier than the rest.
package enum KeyClass: Int64, Hashable, Sendable {
    case track = 0
    case rest = 1
}

/// A part before sealing.
package struct PlainPart: Sendable {
    /// The person whose key seals it.
    package let person: PersonID
    package let keyClass: KeyClass
    package let plaintext: [UInt8]
}

/// A part as read from the log.
package enum OpenedPart {
    /// Valid while the closure that lent the bytes runs.
    case open(UnsafeRawBufferPointer)
    case erased
    case keyLost
}

/// Encodes events to the log's bytes and back.
package enum EventCoding {
    /// An event's stored form before sealing.
    package struct Encoded: Sendable {
        package let kind: EventKind
        /// The CBOR map that is stored unsealed.
        package let clear: [UInt8]
        /// The parts to seal, in the order of the body.
        package let parts: [PlainPart]
    }

    /// The clear map and the plaintexts of `event` in `stream`. Cost: about 0.3 µs for a fix.
    package static func encode(_ event: Event, in stream: StreamID) -> Encoded {
        var clear = FieldWriter(capacity: 48)
        var parts: [PlainPart] = []
        func part(_ person: PersonID?, _ keyClass: KeyClass, _ write: (inout FieldWriter) -> Void) {
            guard let person else { preconditionFailure("A sealed part belongs to a person.") }
            var fields = FieldWriter(capacity: 112)
            write(&fields)
            parts.append(PlainPart(person: person, keyClass: keyClass, plaintext: fields.finish()))
        }
        let kind: EventKind
        switch event {
        case .fixReported(let device, let query, let fix):
            kind = .fixReported
            clear.integer(1, device.rawValue)
            clear.identifier(2, query)
            part(stream.person, .track) { fix.toWrite.write(to: &$0) }
        case .personAdded(let person, let handle):
            kind = .personAdded
            clear.integer(1, person.rawValue)
            part(person, .rest) { $0.text(1, handle.toWrite.text) }
        case .deviceAdded(let device, let person, let handle):
            kind = .deviceAdded
            clear.integer(1, device.rawValue)
            clear.integer(2, person.rawValue)
            part(person, .rest) { $0.text(1, handle.toWrite.text) }
        case .deviceRemoved(let device):
            kind = .deviceRemoved
            clear.integer(1, device.rawValue)
        case .tokenIssued(let token):
            kind = .tokenIssued
            clear.integer(1, token.id.rawValue)
            clear.integer(2, token.principal.rawValue)
            clear.integer(3, token.scopes.rawValue)
            clear.bytes(4, token.hash.bytes)
            clear.timestamp(5, token.until)
            clear.integer(6, token.madeFrom?.rawValue)
        case .tokenRevoked(let token):
            kind = .tokenRevoked
            clear.integer(1, token.rawValue)
        case .grantGiven(let grant):
            kind = .grantGiven
            clear.integer(1, grant.id.rawValue)
            clear.integer(2, grant.requester?.rawValue ?? 0)
            clear.integer(3, grant.precision.rawValue)
            clear.bool(4, grant.includesHistory)
            clear.timestamp(5, grant.from)
            clear.timestamp(6, grant.until)
            clear.bool(7, grant.asksEachTime ? true : nil)
            clear.integer(8, grant.invitation?.rawValue)
            if let detail = grant.detail {
                part(stream.person, .rest) {
                    $0.text(1, detail.toWrite.name?.text)
                    detail.toWrite.hours?.write(to: &$0)
                }
            }
        case .grantRevoked(let grant):
            kind = .grantRevoked
            clear.integer(1, grant.rawValue)
        case .regionAdded(let id, let region):
            kind = .regionAdded
            clear.integer(1, id.rawValue)
            part(stream.person, .rest) { region.toWrite.write(to: &$0) }
        case .regionRemoved(let id):
            kind = .regionRemoved
            clear.integer(1, id.rawValue)
        case .sharingPaused(let person, let until):
            kind = .sharingPaused
            clear.integer(1, person.rawValue)
            clear.timestamp(2, until)
        case .sharingResumed(let person):
            kind = .sharingResumed
            clear.integer(1, person.rawValue)
        case .invitationMade(let invitation):
            kind = .invitationMade
            clear.integer(1, invitation.id.rawValue)
            clear.bytes(2, invitation.hash.bytes)
            clear.timestamp(3, invitation.expires)
            clear.integer(4, invitation.terms.precision.rawValue)
            clear.bool(5, invitation.terms.includesHistory)
            clear.bool(6, invitation.terms.asksEachTime)
            clear.timestamp(7, invitation.terms.from)
            clear.timestamp(8, invitation.terms.until)
            if let detail = invitation.detail {
                part(stream.person, .rest) { detail.toWrite.write(to: &$0) }
            }
        case .invitationWithdrawn(let invitation):
            kind = .invitationWithdrawn
            clear.integer(1, invitation.rawValue)
        case .invitationRefused(let principal):
            kind = .invitationRefused
            clear.integer(1, principal.rawValue)
        case .accountInvitationMade(let hash, let expires):
            kind = .accountInvitationMade
            clear.bytes(1, hash.bytes)
            clear.timestamp(2, expires)
        case .accountInvitationClosed(let invitation):
            kind = .accountInvitationClosed
            clear.integer(1, invitation.rawValue)
        case .consentAsked(let query):
            kind = .consentAsked
            clear.identifier(1, query)
        case .consentGiven(let query):
            kind = .consentGiven
            clear.identifier(1, query)
        case .consentRefused(let query):
            kind = .consentRefused
            clear.identifier(1, query)
        case .scheduleSet(let seconds, let until):
            kind = .scheduleSet
            clear.integer(1, seconds)
            clear.timestamp(2, until)
        case .correctionMade(let correction):
            kind = .correctionMade
            part(stream.person, .rest) { correction.toWrite.write(to: &$0) }
        case .correctionWithdrawn(let correction):
            kind = .correctionWithdrawn
            clear.integer(1, correction.rawValue)
        case .scheduleRemoved(let schedule):
            kind = .scheduleRemoved
            clear.integer(1, schedule.rawValue)
        case .webhookAdded(let token, let topics, let target):
            kind = .webhookAdded
            clear.integer(1, token.rawValue)
            clear.integer(2, topics.rawValue)
            part(stream.person, .rest) {
                $0.text(1, target.toWrite.url)
                $0.bytes(2, target.toWrite.secret)
            }
        case .webhookRemoved(let webhook):
            kind = .webhookRemoved
            clear.integer(1, webhook.rawValue)
        case .webhookSettled(let webhook, let settlement):
            kind = .webhookSettled
            clear.integer(1, webhook.rawValue)
            switch settlement {
            case .told(let number): clear.integer(2, number)
            case .taken(let letter): clear.integer(3, letter.rawValue)
            case .discarded(let letter): clear.integer(4, letter.rawValue)
            }
        case .webhookFailed(let failure):
            kind = .webhookFailed
            clear.integer(1, failure.webhook.rawValue)
            clear.integer(2, failure.item.number)
            clear.integer(3, failure.item.ordinal)
            clear.integer(4, failure.tries)
            clear.integer(5, failure.status)
            clear.text(6, failure.reason)
            part(stream.person, .rest) {
                $0.integer(1, failure.message.toWrite.question.rawValue)
                $0.bytes(2, failure.message.toWrite.body)
            }
        case .inputRejected(let device, let reason, let length, let input):
            kind = .inputRejected
            clear.integer(1, device.rawValue)
            clear.integer(2, reason.rawValue)
            clear.integer(3, length)
            part(stream.person, .track) {
                $0.bytes(1, input.toWrite.hash.bytes)
                $0.bytes(2, input.toWrite.head)
            }
        case .authorizationReported(let device, let report):
            kind = .authorizationReported
            clear.integer(1, device.rawValue)
            part(stream.person, .rest) {
                let report = report.toWrite
                $0.timestamp(1, report.timestamp)
                $0.integer(2, report.status.rawValue)
                $0.integer(3, report.accuracy?.rawValue)
            }
        case .sightingReported(let device, let sighted, let sighting):
            kind =
                switch sighted {
                case .heading: .headingReported
                case .beacon: .beaconSighted
                case .visit: .visitReported
                case .crossing: .crossingReported
                }
            clear.integer(1, device.rawValue)
            part(stream.person, .track) { sighting.toWrite.write(to: &$0) }
        case .messageReported(let device, let message):
            kind = .messageReported
            clear.integer(1, device.rawValue)
            part(stream.person, .track) {
                $0.bytes(1, message.toWrite.hash.bytes)
                $0.text(2, message.toWrite.type)
                $0.text(3, message.toWrite.text)
            }
        case .locationPushTokenRegistered(let device, let environment, let token):
            kind = .locationPushTokenRegistered
            clear.integer(1, device.rawValue)
            clear.integer(2, environment.rawValue)
            part(stream.person, .rest) {
                $0.bytes(1, token.toWrite.bytes)
                $0.text(2, token.toWrite.bundleID)
            }
        case .locationPushTokenRetired(let device, let reason):
            kind = .locationPushTokenRetired
            clear.integer(1, device.rawValue)
            clear.text(2, reason)
        case .locationQueried(let query):
            kind = .locationQueried
            clear.identifier(1, query.id)
            clear.integer(2, query.requester.rawValue)
            clear.integer(3, query.verdict.code)
            clear.integer(4, query.initiation.rawValue)
            clear.timestamp(5, query.deadline)
            clear.integer(6, query.maxAgeSeconds)
            if let subject = query.subject {
                part(subject, .rest) { $0.text(1, query.purposeForSubject.toWrite) }
            }
            if let purpose = query.purposeForRequester {
                part(PersonID(rawValue: query.requester.rawValue), .rest) { $0.text(1, purpose.toWrite) }
            }
        case .locationPushStarted(let query, let device), .locationReportCommanded(let query, let device):
            kind =
                if case .locationPushStarted = event { .locationPushStarted } else { .locationReportCommanded }
            clear.identifier(1, query)
            clear.integer(2, device.rawValue)
        case .locationPushWithheld(let query, let reason):
            kind = .locationPushWithheld
            clear.identifier(1, query)
            clear.integer(2, reason.rawValue)
        case .locationPushAttempted(let attempt), .locationPushTested(let attempt):
            kind = if case .locationPushTested = event { .locationPushTested } else { .locationPushAttempted }
            clear.identifier(1, attempt.query)
            clear.integer(2, attempt.device.rawValue)
            clear.integer(3, attempt.attempt)
            clear.identifier(4, attempt.apnsID)
            clear.integer(5, attempt.status)
            clear.text(6, attempt.reason)
            clear.integer(7, attempt.durationMilliseconds)
            clear.integer(8, attempt.recordedOutcome?.rawValue)
            clear.timestamp(9, attempt.startedAt)
            clear.integer(10, attempt.environment?.rawValue)
            clear.integer(11, attempt.priority)
            clear.integer(12, attempt.tokenHash.map { Int64($0.rawValue) })
            clear.text(13, attempt.uniqueID)
        case .locationQueryEnded(let query, let end, let fix):
            kind = .locationQueryEnded
            clear.identifier(1, query)
            clear.integer(2, end.rawValue)
            clear.integer(3, fix)
        case .locationDisclosed(let disclosure):
            kind = .locationDisclosed
            clear.identifier(1, disclosure.query)
            clear.integer(2, disclosure.requester.rawValue)
            clear.integer(3, disclosure.verdict.code)
            clear.integer(4, disclosure.precision.rawValue)
            clear.integer(5, disclosure.fix)
            part(disclosure.subject, .rest) {
                let content = disclosure.content.toWrite
                $0.degrees(1, content.latitude)
                $0.degrees(2, content.longitude)
                $0.double(3, content.horizontalAccuracy)
                $0.timestamp(4, content.timestamp)
                $0.text(5, content.placeName)
                $0.bytes(6, content.answerHash.bytes)
            }
        case .locationRead(let read):
            kind = .locationRead
            clear.integer(1, read.reader.rawValue)
            clear.integer(2, read.question.rawValue)
            clear.integer(3, read.verdict.code)
            clear.integer(4, read.precision.rawValue)
            clear.integer(5, read.asOf)
            clear.integer(6, read.count)
            clear.identifier(7, read.continuing)
            part(read.subject ?? PersonID(rawValue: read.reader.rawValue), .rest) {
                let content = read.content.toWrite
                $0.text(1, content.purpose)
                $0.timestamp(2, content.from)
                $0.timestamp(3, content.to)
                $0.bytes(4, content.answerHash?.bytes)
            }
        case .refusalsCounted(let principal, let count, let since):
            kind = .refusalsCounted
            clear.integer(1, principal.rawValue)
            clear.integer(2, count)
            clear.timestamp(3, since)
        case .personErased(let person):
            kind = .personErased
            clear.integer(1, person.rawValue)
        case .clockSteppedBack(let milliseconds):
            kind = .clockSteppedBack
            clear.integer(1, milliseconds)
        case .logRestored(let epoch):
            kind = .logRestored
            clear.integer(1, epoch)
        case .operatorActed(let act):
            kind = .operatorActed
            act.write(to: &clear)
        case .lossAccepted(let from, let to, let epoch):
            kind = .lossAccepted
            clear.integer(1, from)
            clear.integer(2, to)
            clear.integer(3, epoch)
        }
        return Encoded(kind: kind, clear: clear.finish(), parts: parts)
    }
}

extension Part {
    /// An event is written once, with known content. One read back as erased is never written again.
    var toWrite: Content {
        guard case .open(let content) = self else { preconditionFailure("An erased part cannot be written.") }
        return content
    }
}

extension Verdict {
    /// The stored form: the grant's number, 0 for own data, −1 for the operator, a lower number for a refusal.
    package var code: Int64 {
        switch self {
        case .own: 0
        case .operatorOnRecord: -1
        case .granted(let grant): grant.rawValue
        case .refused(let reason): -1 - reason.rawValue
        }
    }

    /// The inverse of ``code``; `nil` for an unknown refusal.
    package init?(code: Int64) {
        switch code {
        case 0: self = .own
        case -1: self = .operatorOnRecord
        case 1...: self = .granted(GrantID(rawValue: code))
        default:
            guard let reason = RefusalCode(rawValue: -1 - code) else { return nil }
            self = .refused(reason)
        }
    }
}

extension WeeklyHours {
    /// The changes and ranges as flat lists of pairs. Key 1 may be a person's name before them.
    func write(to fields: inout FieldWriter) {
        fields.text(2, zone.name)
        fields.integer(3, zone.offsetSeconds)
        fields.integers(4, zone.changes.flatMap { [$0.at.milliseconds / 1000, $0.offsetSeconds] })
        fields.integers(5, ranges.flatMap { [$0.lowerBound, $0.upperBound] })
    }

    /// `nil` if the fields are absent.
    init?(from fields: inout FieldReader) throws(CBORError) {
        guard let name = try fields.text(2) else { return nil }
        let offset = try require(try fields.integer(3))
        let changes = try pairs(try fields.integers(4)).map {
            ZoneRules.Change(at: Timestamp(milliseconds: $0 &* 1000), offsetSeconds: $1)
        }
        let ranges = try pairs(try fields.integers(5))
        guard ranges.allSatisfy({ $0 < $1 }),
            let zone = ZoneRules(name: name, offsetSeconds: offset, changes: changes),
            let hours = WeeklyHours(ranges: ranges.map { $0..<$1 }, zone: zone)
        else { throw .unexpected }
        self = hours
    }
}

private func pairs(_ flat: [Int64]) throws(CBORError) -> [(Int64, Int64)] {
    guard flat.count % 2 == 0 else { throw .unexpected }
    return stride(from: 0, to: flat.count, by: 2).map { (flat[$0], flat[$0 + 1]) }
}

extension Fix {
    func write(to fields: inout FieldWriter) {
        fields.timestamp(1, timestamp)
        fields.degrees(2, coordinate.latitude)
        fields.degrees(3, coordinate.longitude)
        fields.double(4, horizontalAccuracy)
        writeDetails(to: &fields)
        fields.text(16, clientID)
        fields.timestamp(17, receivedAt)
        fields.text(18, remainder)
    }

    init(from fields: inout FieldReader) throws(CBORError) {
        let timestamp = try require(try fields.timestamp(1))
        self.init(timestamp: timestamp, coordinate: try fields.coordinate(latitude: 2, longitude: 3))
        horizontalAccuracy = try fields.double(4)
        try readDetails(from: &fields)
        clientID = try fields.text(16)
        receivedAt = try fields.timestamp(17)
        remainder = try fields.text(18)
    }
}
