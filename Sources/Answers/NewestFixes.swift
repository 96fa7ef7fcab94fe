import Projections
import SQLite
package import Tables
package import Whereabouts

extension AnswerContext {
    /// The newest usable fix of each of a person's devices that is not withdrawn, by device, and the number of the last
    /// event folded.
    package func newestFixes(of person: PersonID) throws(Problem) -> (value: [ReportedFix], asOf: Int64) {
        let (newest, asOf) = try read(CurrentTable.name) { (connection) throws(SQLiteError) in
            try CurrentReader.fixes(of: person, in: connection)
        }
        guard newest.contains(where: \.isWithdrawn) else { return (newest.map(\.reported), asOf) }
        let (counted, place) = try read(TimelineTable.name) { (connection) throws(SQLiteError) -> [ReportedFix] in
            var found: [ReportedFix] = []
            for newest in newest {
                let fix =
                    newest.isWithdrawn
                    ? try TimelineReader.newestUsable(of: person, newest.reported.device, in: connection)
                    : newest.reported
                if let fix { found.append(fix) }
            }
            return found
        }
        return (counted, min(asOf, place))
    }

    /// The newest usable fix of a person that is not withdrawn.
    package func newestFix(of person: PersonID) throws(Problem) -> (value: ReportedFix?, asOf: Int64) {
        let (fixes, asOf) = try newestFixes(of: person)
        return (CurrentReader.newest(of: fixes), asOf)
    }
}
