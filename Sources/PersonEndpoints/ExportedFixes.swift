import Answers
import Log
import Projections
import SQLite
import Tables
import Whereabouts

extension AnswerContext {
    /// Every fix of a range that the permit shows, by time, in one transaction.
    ///
    /// - Parameter take: A problem ends the reading and is thrown.
    /// - Returns: The number of the last event that the fixes take into account.
    func eachFix(
        of permit: Permit, from: Timestamp?, to: Timestamp?, _ take: (ReportedFix) throws(Problem) -> Void
    ) throws(Problem) -> Int64 {
        var failure: Problem?
        let (_, asOf) = try read(TimelineTable.name) { (connection) throws(SQLiteError) in
            var after: TimelineReader.FixKey?
            while failure == nil {
                let rows = try TimelineReader.fixes(
                    of: permit.subject, from: from, to: to, after: after, limit: Int(ReadEndpoints.rowsPerPage),
                    in: connection)
                do throws(Problem) {
                    for row in rows where permit.shows(row.fix.timestamp) { try take(row) }
                } catch { failure = error }
                guard rows.count == Int(ReadEndpoints.rowsPerPage), let last = rows.last else { break }
                after = TimelineReader.FixKey(last)
            }
        }
        if let failure { throw failure }
        return asOf
    }
}

/// The handles of devices, looked up once for each.
final class DeviceHandles {
    private let decisions: Decisions
    private var known: [DeviceID: String?] = [:]

    init(_ decisions: Decisions) { self.decisions = decisions }

    /// The handle; `nil` for a device that has none.
    func handle(of device: DeviceID) -> String? {
        if let handle = known[device] { return handle }
        let handle = decisions.log.withStanding { $0.devices[device]?.handle?.text }
        known[device] = handle
        return handle
    }
}
