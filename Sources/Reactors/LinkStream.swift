package import Answers
package import Gazetteer
import Log
import Replies
package import Whereabouts

/// An open stream of where a live share link shows its person (`GET /v1/live` with a viewer's token). For example
///
///     event: location
///     data: {"timestamp":1777881600,"latitude":48.205,"longitude":16.3698,"precision":"kilometer",…}
///
/// An exact link sends an item for each fix that becomes the newest. A coarse link reads the location once in each
/// quarter of an hour of the service's clock, and sends it if it differs: otherwise the moment of an item would
/// disclose when the phone reported. Items have no id, because a viewer who reconnects gets the newest location first.
///
/// A value that the deliverer's thread owns.
package struct LinkStream: Sendable {
    /// The result of one read of the location.
    package struct Look: Sendable {
        /// The number of the fix in the log; `nil` if there is nothing to show.
        let fix: Int64?
        /// The location as JSON, a `LocationItem`; `nil` if there is nothing to show.
        package let item: [UInt8]?
        let at: Timestamp

        /// The item as an event of the stream; empty if there is nothing to show.
        package var event: [UInt8] {
            item.map { Array("event: location\ndata: ".utf8) + $0 + Array("\n\n".utf8) } ?? []
        }
    }

    /// The viewer, who has a token of the link.
    package let caller: Caller
    /// The read that each item is recorded as.
    package let question: ReadQuestion
    /// The id of the request, which the records of disclosures carry.
    package let correlation: RequestID
    /// The connection to the viewer.
    package let stream: DisclosingStream
    /// The languages for names of places.
    package let languages: [Language]
    /// The last read.
    package private(set) var last: Look

    /// - Parameter first: The read that the viewer got when the stream was opened.
    package init(
        caller: Caller, question: ReadQuestion, correlation: RequestID, stream: DisclosingStream,
        languages: [Language], first: Look
    ) {
        (self.caller, self.question, self.correlation, self.stream) = (caller, question, correlation, stream)
        (self.languages, last) = (languages, first)
    }

    /// The person whose limit of streams this stream counts against; all viewers of one link share one limit.
    package var holder: PersonID { PersonID(rawValue: caller.principal.rawValue) }

    /// Whether the location may differ from the last read.
    ///
    /// - Parameter newest: The number of the newest fix that the permit shows; `nil` without one.
    func isDue(under permit: Permit, newest: Int64?, at now: Timestamp) -> Bool {
        permit.precision == .exact
            ? newest != last.fix : permit.precision.shown(now) != permit.precision.shown(last.at)
    }

    /// Notes a read whose item was sent, or did not have to be.
    mutating func note(_ look: Look) { last = look }

    /// Reads the newest location that a permit shows. `nil` if it is not durable yet, or cannot be read now.
    ///
    /// Cost: one read of the log, and the names of the place.
    package static func look(
        under permit: Permit, at now: Timestamp, _ decisions: Decisions, _ context: AnswerContext,
        languages: [Language]
    ) -> Look? {
        guard let newest = decisions.log.withStanding({ $0.newestFix(under: permit) }) else {
            return Look(fix: nil, item: nil, at: now)
        }
        guard newest.number <= decisions.log.head, let found = try? context.reader.event(newest.number) else {
            return nil
        }
        guard case .fixReported(_, _, .open(let fix)) = found.event.event, permit.shows(fix.timestamp) else {
            return Look(fix: newest.number, item: nil, at: now)
        }
        let shown = ShownLocation(fix, of: newest.number, under: permit, decisions, context, languages: languages)
        return Look(fix: newest.number, item: shown.item.bytes, at: now)
    }
}
