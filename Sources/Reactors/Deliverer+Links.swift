import Answers
import Log
import Whereabouts

// The streams of viewers who have opened a live share link.

extension Deliverer {
    /// The next step of a stream.
    private enum Step {
        /// The link or its grant has ended; the stream ends.
        case end
        /// There is nothing new, or the link has used up its reads for now.
        case wait
        case look(Permit)
    }

    /// Sends the newest location to each stream to which it may be new, and ends the streams of links that no longer
    /// show anything. Returns the open streams.
    ///
    /// Each item is on record before it leaves, as a read by the link. A pause ends no stream: to others, a pause looks
    /// like a phone that is switched off.
    func deliver(
        to streams: [LinkStream], _ sources: FeedSources, _ context: AnswerContext
    ) -> [LinkStream] {
        streams.compactMap { open -> LinkStream? in
            var stream = open
            guard !stream.stream.isOver else { return nil }
            let now = sources.decisions.clock()
            let goesOn: Bool
            switch step(of: stream, sources.decisions, at: now) {
            case .wait: goesOn = true
            case .look(let permit): goesOn = give(to: &stream, under: permit, at: now, sources, context)
            case .end: goesOn = false
            }
            if !goesOn { stream.stream.finish() }
            return goesOn ? stream : nil
        }
    }

    private func step(of stream: LinkStream, _ decisions: Decisions, at now: Timestamp) -> Step {
        decisions.log.withStanding { standing in
            guard standing.isValid(stream.caller, at: now),
                case .success(let permit) = standing.authorize(stream.caller, toRead: stream.question, at: now)
            else { return .end }
            let newest = standing.newestFix(under: permit)?.number
            let wait = standing.secondsUntil(
                .read, under: permit.verdict, of: stream.caller.principal, about: permit.subject, at: now)
            return stream.isDue(under: permit, newest: newest, at: now) && wait == nil ? .look(permit) : .wait
        }
    }

    /// Reads the location, and sends it if it differs from the last item.
    ///
    /// - Returns: Whether the stream stays open. Nothing is sent without a record.
    private func give(
        to stream: inout LinkStream, under permit: Permit, at now: Timestamp, _ sources: FeedSources,
        _ context: AnswerContext
    ) -> Bool {
        let decisions = sources.decisions
        let asOf = decisions.log.head
        let found = LinkStream.look(under: permit, at: now, decisions, context, languages: stream.languages)
        guard let found else { return true }
        guard found.item != nil, found.item != stream.last.item else {
            stream.note(found)
            return true
        }
        let part = Gate.Computed(body: found.event, count: 1, asOf: asOf, headers: [])
        do throws(AppendFailure) {
            let disclosed = try sources.views.gate.follow(
                stream.question, permitted: permit, part, by: stream.caller, correlation: stream.correlation)
            stream.stream.write(disclosed)
            stream.note(found)
            return true
        } catch {
            switch error {
            // The next read may be recorded.
            // A pause that began or ended since the look changes the permit. It must not end the stream, because the viewer
            // could then distinguish a pause from a phone that is switched off. The next look ends the stream if the right is gone.
            case .refused(.noSuchPerson), .refused(.tooOften), .refused(.outdated), .busy, .full, .notYet: return true
            case .refused, .elsewhere, .fault: return false
            }
        }
    }
}
