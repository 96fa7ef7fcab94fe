import Answers
import Gazetteer
import HTTPInterface
import HTTPServer
import HouseEndpoints
import Log
import Maintenance
import PersonEndpoints
import Projections
import Reactors
import ReportEndpoints

/// The operations of a reader: the whole API, of which the reader answers some itself. The others are never called here;
/// the table gives the bounds of their bodies, and the API description.
enum ReaderOperations {
    /// What the handlers use.
    struct Parts {
        let decisions: Decisions
        let views: Views
        let seal: HouseSeal
        let answers: AnswerPool
        let directory: DataDirectory
        let gazetteer: Gazetteer?
        let requestFigures: RequestFigures
        let counters: @Sendable () -> HTTPServerCounters?
    }

    /// All operations.
    static func all(_ parts: Parts) -> [Operation] {
        let (decisions, views) = (parts.decisions, parts.views)
        let deviceContacts = DeviceContacts()
        let houseLog = HouseLog(views, seal: parts.seal)
        let houseOperations = HouseOperations.all(
            views: views, houseLog: houseLog, answers: parts.answers, directory: parts.directory,
            backups: BackupKeeper(parts.directory, decisions.log),
            backupMaker: BackupMaker(directory: parts.directory, log: decisions.log, clock: decisions.clock),
            deviceContacts: deviceContacts, geocodingBudgets: GeocodingBudgets(), requestFigures: parts.requestFigures,
            verificationProgress: VerificationProgress(), apps: nil, webhooks: nil,
            witnesses: nil, shipper: nil, serverCounters: parts.counters)
        let description = APIDescription()
        let operations =
            ReportOperations.all(views: views, answers: parts.answers, secretBoxes: [:])
            + PersonOperations.all(
                views: views, personLogs: PersonLogs(views, seal: parts.seal, houseLog: houseLog),
                answers: parts.answers, waitingRoom: WaitingRoom(log: decisions.log, clock: decisions.clock),
                deliverer: Deliverer(log: decisions.log, clock: decisions.clock),
                sources: FeedSources(views: views, deviceContacts: deviceContacts, gazetteer: parts.gazetteer),
                webhooks: nil, hasTrackers: false, spoolRoom: SpoolRoom(directory: parts.directory.path),
                others: houseOperations)
            + houseOperations + description.operations
        description.describe(operations)
        return operations
    }
}
