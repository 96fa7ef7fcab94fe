import Cryptography
import HTTPServer
import Log
import Projections
import Whereabouts

/// The parts of a service that handlers are made from. Only this file takes handlers' parts out of it.
struct Parts {
    let views: Views
    let personLogs: PersonLogs
    let seal: HouseSeal
    let answers: AnswerPool
    let waitingRoom: WaitingRoom
    let deliverer: Deliverer
    let sources: FeedSources
    let webhooks: WebhookDeliverer?
    let witnesses: WitnessRounds?
    let apps: PushApps?
    let backups: BackupKeeper
    let backupMaker: BackupMaker
    let directory: DataDirectory
    let deviceContacts: DeviceContacts
    let requestFigures: RequestFigures
    let secretBoxes: [Handle: SecretBox]
    let verificationProgress: VerificationProgress
    let callers: Callers
    let geocodingBudgets: GeocodingBudgets
    let basemap: Basemap?
    let publicURL: String?
    let isDemo: Bool
    let serverCounters: @Sendable () -> HTTPServerCounters?
}

/// All routes by subject, with the parts that the handlers of each subject hold. The operations of a subject are beside its
/// handlers; the reference page lists every address.
extension RouteTable {
    /// Every address of a service.
    init(_ parts: Parts) {
        let views = parts.views
        let (decisions, gate) = (views.decisions, views.gate)
        let tilesPath = RasterTiles.path(in: parts.directory.path)
        let accounts = AccountEndpoints(decisions: decisions)
        let geocoding = GeocodeEndpoints(decisions: decisions, geocodingBudgets: parts.geocodingBudgets)
        let map = MapEndpoints(geocoding: geocoding, basemap: parts.basemap, tilesPath: tilesPath)
        let shell = PageShell(assets: PageAssets(), tilesPath: tilesPath)
        let sessions = SessionEndpoints(
            decisions: decisions, callers: parts.callers, shell: shell, seal: parts.seal, publicURL: parts.publicURL,
            isDemo: parts.isDemo, wrongSignIns: WrongSignIns())
        let description = APIDescription()

        // Reports of devices, and questions to them.
        var operations =
            IngestEndpoints(
                decisions: decisions, gate: gate, answers: parts.answers, secretBoxes: parts.secretBoxes,
                friendsShown: FriendsShown()
            ).operations
        operations +=
            QueryEndpoints(
                decisions: decisions, gate: gate, answers: parts.answers, waitingRoom: parts.waitingRoom
            ).operations
        // Stored data about a person; each answer is recorded before it leaves.
        operations += ReadEndpoints(decisions: decisions, views: views).operations
        operations += ProofEndpoints(views: views, logs: parts.personLogs).operations
        operations +=
            LiveEndpoint(
                decisions: decisions, views: views, deliverer: parts.deliverer, sources: parts.sources
            ).operations
        operations += RecorderEndpoints(decisions: decisions, gate: gate).operations
        operations += PreviewEndpoint(decisions: decisions, views: views).operations
        // Persons, devices and rights.
        operations +=
            ManageEndpoints(
                decisions: decisions, views: views, backups: parts.backups, deviceContacts: parts.deviceContacts
            ).operations
        operations += GrantEndpoints(decisions: decisions, views: views).operations
        operations += SharedEndpoint(decisions: decisions).operations
        operations += accounts.operations
        operations += ScheduleEndpoints(decisions: decisions, views: views).operations
        operations +=
            WebhookEndpoints(decisions: decisions, views: views, webhookDeliverer: parts.webhooks).operations
        operations += CorrectionEndpoints(decisions: decisions, views: views).operations
        // Facts that concern no person.
        operations += geocoding.operations + map.operations
        // The operator's requests.
        operations += PushTestEndpoints(decisions: decisions, gate: gate, pushApps: parts.apps).operations
        operations +=
            OperateEndpoints(
                decisions: decisions, gate: gate, host: views.host, directory: parts.directory,
                backupMaker: parts.backupMaker, verificationProgress: parts.verificationProgress, work: OperatorWork()
            ).operations
        operations +=
            MetricsEndpoint(
                decisions: decisions, host: views.host, answers: parts.answers, requestFigures: parts.requestFigures,
                webhookDeliverer: parts.webhooks, witnesses: parts.witnesses, serverCounters: parts.serverCounters
            ).operations
        operations += description.operations
        // Signing in to the page.
        operations += sessions.operations
        description.describe(operations)

        // The page shows the API's own answers.
        let plain = PlainViews(
            routes: RouteTable(operations), shell: shell, timeZones: views.timeZones, clock: decisions.clock)
        let page = PageEndpoints(decisions: decisions, shell: shell, plain: plain, sessions: sessions)
        let welcome = WelcomeEndpoints(
            page: page, accounts: accounts, sessions: sessions, shell: shell, publicURL: parts.publicURL)
        let forms = PlainForms(page: page, shell: shell, plain: plain)
        self.init(operations, pages: page.routes + welcome.routes + forms.routes + shell.assets.routes + map.routes)
    }
}
