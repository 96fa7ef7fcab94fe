import Cryptography
package import JSON
package import Log
package import Replies
package import Whereabouts
import WireFormats

/// The JSON form of an event in `whereabouts events` and `GET /v1/events`.
///
/// Members of the header come first, then `content`, whose members depend on the kind. A part whose key is destroyed or
/// lost is `"sealed": "erased"` or `"sealed": "keyLost"` instead of its members.
package enum EventJSON {
    /// One event of the log for the operator, who sees the log's own numbers.
    package struct Item {
        /// The event as the log has it, with its sealed parts closed.
        package let stored: LogReader.StoredEvent
        /// The event with its sealed parts opened, or `nil` to print it as stored.
        package let opened: RecordedEvent?

        package init(stored: LogReader.StoredEvent, opened: RecordedEvent?) {
            self.stored = stored
            self.opened = opened
        }

        /// Writes the event as one object. With `opened` its `content`, otherwise its `body` in hexadecimal.
        ///
        /// Members: `number`, `kind` (the name, or the number of an unknown kind), `stream`, `version`, `recordedAt`,
        /// `actor`, `correlation`, `cause` (absent without one), `leaf` (64 hexadecimal digits), then `content` or
        /// `body`.
        package func write(into writer: inout JSONWriter) {
            let header = stored.header
            writer.beginObject()
            writer.members(
                of: EventHead(
                    number: header.number, kind: EventKind(rawValue: header.kind)?.name ?? "\(header.kind)",
                    stream: header.stream.rawValue, version: header.version,
                    recordedAt: Moment(header.recordedAt), actor: header.actor.rawValue,
                    correlation: header.correlation.description, cause: header.cause, leaf: stored.leaf.hex))
            if let opened {
                writer.object("content") { writer in EventJSON.write(opened.event, into: &writer) }
            } else {
                writer.field("body", Hex.encode(stored.body))
            }
            writer.endObject()
        }
    }

    /// Writes the content of an event into an open object. Secrets are left out: of a device token only the last four
    /// bytes, of a webhook only its origin. Which members an event has is declared with its kind, in the folder `Facts`
    /// of the module `Whereabouts`.
    ///
    /// - Ids are the log's numbers; queries and push ids are UUIDs. A `nil` member is absent.
    /// - Times are Unix seconds; durations have their unit in the name.
    /// - Enumerations are words, for example `"precision":"kilometer"`.
    /// - Hashes are hexadecimal: `answerSHA256` of an answer's bytes, `sha256` of a rejected input, whose text is not
    ///   shown.
    package static func write(_ event: Event, into writer: inout JSONWriter) {
        for field in ShownFields(of: event).all {
            switch field.value {
            case .integer(let number): writer.field(field.name, number)
            case .real(let number): writer.field(field.name, number)
            case .bool(let value): writer.field(field.name, value)
            case .text(let text): writer.field(field.name, text)
            case .time(let time): writer.field(field.name, milliseconds: time.milliseconds)
            case .texts(let texts): writer.array(field.name) { writer in for text in texts { writer.value(text) } }
            case .bytes(let bytes): writer.field(field.name, Hex.encode(bytes))
            case .json(let json): writer.field(field.name, raw: json)
            case .fix(let fix):
                writer.key(field.name)
                FixJSON.write(fix, into: &writer)
            case .region(let region): writer.members(of: RegionAreaItem(region))
            case .correction(let correction): writer.members(of: CorrectionContent(correction))
            case .authorization(let report): writer.members(of: AuthorizationItem(report))
            case .sighting(let sighting): ReportJSON.writeMembers(of: sighting, into: &writer)
            }
        }
    }
}

extension VerdictItem {
    /// - Parameter references: How the reader sees numbers.
    package init(_ verdict: Verdict, _ references: References) {
        switch verdict {
        case .own: self.init(verdict: "own")
        case .operatorOnRecord: self.init(verdict: "operator")
        case .granted(let grant): self.init(verdict: "granted", grant: references.name(grant.rawValue, .grant))
        case .refused(let reason): self.init(verdict: "refused", reason: reason.word)
        }
    }
}
