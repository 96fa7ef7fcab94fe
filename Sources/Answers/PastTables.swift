import AuditTables
import Cryptography
package import Log
import Projections
import SQLite
import Tables
package import Whereabouts

/// A moment of the log, as of which an answer is asked.
package enum AsOf: Sendable, Equatable {
    /// After the event of this number, from 1 on. Only the operator sees numbers.
    case number(Int64)
    /// Before the first event of the person that was recorded after this time.
    case time(Timestamp)
}

/// What was known about a person at an earlier moment: a projection of the person's events up to then, and the
/// corrections that were in force.
///
/// The rights of the reader, the names of people, devices and places are the present ones. Erased contents stay
/// erased.
package struct PastTables {
    /// The name of the projection.
    let name: String
    /// Up to which number of the log the answer is.
    let number: Int64
    /// When that was: the `now` of what depends on time alone, such as a visit under way.
    package let moment: Timestamp
    /// The person's corrections of visits.
    let corrections: VisitCorrections
    private let projection: PastProjection

    /// The most events that are folded for an answer: about two seconds of one answering thread, and 30 MB.
    package static let eventsMax = 50_000

    func read<R>(
        _ body: (borrowing Connection) throws(SQLiteError) -> R
    ) throws(SQLiteError) -> R { try projection.read(body) }

    /// Folds a person's events.
    ///
    /// - Parameters:
    ///   - name: The projection: the timeline or the audit.
    ///   - now: The present, which is the moment of a time in the future.
    /// - Throws: 413 above ``eventsMax``; 422 for a number that is not in the log; 503 while the index of streams does
    ///   not follow.
    ///
    /// Cost: about 40 µs for each event of the person up to the moment.
    package init(
        of person: PersonID, in name: String, at asOf: AsOf, now: Timestamp, _ log: EventLog, _ context: AnswerContext
    ) throws(Problem) {
        guard let kind = ProjectionKind.named(name) else { throw .broken }
        let head = log.head
        var (number, moment) = (head, now)
        switch asOf {
        case .number(let asked):
            guard (1...max(head, 1)).contains(asked), let event = try context.event(asked) else {
                throw .refused("\"as-of-number\" must be the number of an event of the log, from 1 to \(head).")
            }
            (number, moment) = (asked, event.event.recordedAt)
        case .time(let time): moment = min(time, now)
        }
        guard context.host.wait(for: number, in: [StreamIndexTable.name], milliseconds: 10_000) else { throw .busy(1) }
        // Acts of the operator, which every audit shows, are events of the house.
        let isAudit = name == AuditTable.name
        let streams: [StreamID] = isAudit ? [.audit(person), .house] : [.track(person), .audit(person)]
        var numbers: [Int64] = []
        for stream in streams {
            numbers += try context.read(StreamIndexTable.name) { (connection) throws(SQLiteError) in
                try StreamIndexReader.numbers(
                    of: stream, fromVersion: 1, count: Self.eventsMax + 1, in: connection)
            }.value.prefix { $0 <= number }
        }
        numbers.sort()
        var events: [(event: RecordedEvent, leaf: Digest)] = []
        var corrections: [CorrectionID: Correction] = [:]
        for (index, place) in numbers.enumerated() {
            guard let found = try context.event(place) else { throw .broken }
            if case .time(let time) = asOf, found.event.recordedAt > time { break }
            guard index < Self.eventsMax else { throw Self.tooMany }
            switch found.event.event {
            case .correctionMade(let correction): corrections[CorrectionID(rawValue: place)] = correction.content
            case .correctionWithdrawn(let id): corrections[id] = nil
            default: break
            }
            if found.event.stream == .house {
                switch found.event.audited {
                case .act, .actFailed: break
                default: continue
                }
            }
            events.append(found)
        }
        do throws(LogError) { projection = try PastProjection(kind, of: events, reader: context.reader) } catch {
            throw .broken
        }
        self.name = name
        self.moment = moment
        if case .time = asOf { number = projection.place }
        self.number = number
        self.corrections = VisitCorrections(corrections.sorted { $0.key < $1.key }.map(\.value))
    }

    private static var tooMany: Problem {
        Problem(
            413, "Too long",
            "There are more than \(eventsMax) events up to then, which is the most that an answer as of an earlier moment takes. Ask as of an earlier moment."
        )
    }
}

extension AnswerContext {
    /// An event of the log.
    fileprivate func event(_ number: Int64) throws(Problem) -> (event: RecordedEvent, leaf: Digest)? {
        do throws(LogError) { return try reader.event(number) } catch { throw .broken }
    }

    /// The person's corrections of their visits: those of now, or of the moment as of which the answer is.
    package func corrections(of person: PersonID, _ decisions: Decisions) -> VisitCorrections {
        past?.corrections ?? decisions.corrections(of: person)
    }
}
