import SQLite
import Testing

@testable import AuditTables
@testable import Projections
@testable import Tables

/// Statements that run per request or per late fix find their rows by a key.
@Suite struct QueryPlanTests {
    private func plan<P: Projection>(_: P.Type, _ sql: StaticString) throws -> [String] {
        let folded = try Folded<P>()
        try folded.index()
        return try folded.file.connection.explainQueryPlan(sql)
    }

    private func expectSearches(_ plan: [String], sorts: Bool = false) {
        let scans = plan.filter { $0.hasPrefix("SCAN") || (!sorts && $0.contains("TEMP B-TREE")) }
        #expect(scans == [])
        #expect(plan.contains { $0.hasPrefix("SEARCH") })
    }

    @Test func `fixes, visits and crossings`() throws {
        for sql in [
            FixBlocks.rangeSQL, FixBlocks.backwardsSQL, FixBlocks.coveringSQL, FixBlocks.followingSQL,
            FixBlocks.nextSQL, TimelineReader.visitsSQL, TimelineReader.visitSQL, TimelineReader.toldVisitsSQL,
            TimelineReader.toldCrossingsSQL, TimelineReader.reportedPlacesSQL, TimelineReader.leadsSQL,
            TimelineReader.enteredSQL, TimelineReader.withdrawnSQL, TimelineReader.newestTwinsSQL,
            TimelineTable.searchedTwinsSQL,
            TimelineTable.searchedWithdrawnSQL, TimelineTable.searchedReportsSQL,
            TimelineTable.searchedWithdrawnReportsSQL, TimelineTable.countedSQL, TimelineTable.countedWithdrawnSQL,
        ] {
            expectSearches(try plan(TimelineTable.self, sql))
        }
        expectSearches(try plan(TimelineTable.self, TimelineReader.crossingsSQL))
        expectSearches(try plan(TimelineTable.self, TimelineTable.otherRowsSQL))
    }

    @Test func `current fixes and the stream index`() throws {
        // A person has a handful of devices: the newest of them is found by sorting these.
        expectSearches(try plan(CurrentTable.self, CurrentReader.devicesSQL))
        expectSearches(try plan(StreamIndexTable.self, StreamIndexReader.sql))
        for sql in [EnvelopeReader.rowsSQL, EnvelopeReader.periodsSQL] {
            expectSearches(try plan(EnvelopeTable.self, sql))
        }
    }

    @Test func `the audit`() throws {
        for sql in [
            AuditReader.querySQL, AuditReader.queriesAboutSQL, AuditReader.queriesBySQL, AuditReader.attemptsSQL,
            AuditReader.disclosuresForSQL, AuditReader.disclosuresAboutSQL, AuditReader.readsAboutSQL,
            AuditReader.othersReadsAboutSQL,
            AuditReader.readsBySQL, AuditReader.changesAboutSQL, AuditReader.actsSQL, AuditReader.actSQL,
            AuditReader.refusalsOfSQL, AuditReader.rejectedSQL, AuditReader.rejectionsSQL,
            AuditTable.rejectionTooManySQL,
        ] {
            expectSearches(try plan(AuditTable.self, sql))
        }
    }
}
