package import Cryptography
package import Log
package import SQLite
package import Whereabouts

/// A projection of some events of the log, folded in memory and thrown away after the answer: the tables of one person
/// as they were.
///
/// It has the folds, the tables and the indexes of the newest version of its kind, so that the same code reads it. A
/// table of one person depends on the events of that person's streams alone, which are given here.
package final class PastProjection {
    private let followed: FollowedProjection

    /// Events of one transaction.
    private static let batch = 1000

    /// Folds events into an empty projection.
    ///
    /// - Parameter events: In the order of their numbers, each with its leaf.
    /// - Throws: ``LogError`` if the rows cannot be made.
    ///
    /// Cost: the fold, about 10 µs an event, and the memory of the rows, about 600 bytes a fix.
    package init(
        _ kind: ProjectionKind, of events: [(event: RecordedEvent, leaf: Digest)], reader: LogReader
    ) throws(LogError) {
        let log = try reader.identity()
        do throws(FollowedProjection.OpenFailure) {
            followed = try FollowedProjection(
                Catalog.Generation(name: kind.name, version: kind.newest, generation: 0, role: .candidate), kind: kind,
                directory: FollowedProjection.inMemory, log: log, reader: reader)
        } catch {
            switch error {
            case .fault(let error): throw .sqlite(error)
            case .unusable: throw .sqlite(.damagedRow)
            }
        }
        do throws(SQLiteError) {
            var rest = events[...]
            while let last = rest.prefix(Self.batch).last {
                try followed.fold(
                    rest.prefix(Self.batch).map(\.event), endingWith: (last.event.number, last.leaf), byTime: true)
                rest = rest.dropFirst(Self.batch)
            }
            try followed.finishLoading()
        } catch { throw .sqlite(error) }
    }

    /// The number of the last event folded; 0 without one.
    package var place: Int64 { followed.place }

    /// Reads the tables.
    package func read<R>(
        _ body: (borrowing Connection) throws(SQLiteError) -> R
    ) throws(SQLiteError) -> R { try followed.read(body) }
}
