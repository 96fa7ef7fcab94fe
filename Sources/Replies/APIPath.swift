/// The path of an operation. The service declares its operations with these paths, and the client and the tool call them.
package struct APIPath: Hashable, Sendable {
    /// The path with `*` for each variable part, for example `/v1/people/*/visits`.
    package let text: String

    private init(_ text: String) { self.text = text }

    /// The parts of the path, for example `["v1", "people", "anna", "visits"]`.
    ///
    /// - Parameter values: The variable parts in their order, as many as the path has.
    package func parts(_ values: String...) -> [String] {
        var rest = values[...]
        let parts = text.dropFirst().split(separator: "/").map { part in
            if part != "*" { return String(part) }
            guard let value = rest.popFirst() else { preconditionFailure("\(text) has more variable parts.") }
            return value
        }
        precondition(rest.isEmpty, "\(text) has fewer variable parts.")
        return parts
    }

    /// Whether these are parts of this path.
    package func matches(_ parts: [String]) -> Bool {
        let pattern = text.dropFirst().split(separator: "/")
        return pattern.count == parts.count && zip(pattern, parts).allSatisfy { $0 == "*" || $0 == $1 }
    }

    package static let accountInvitations = APIPath("/v1/account-invitations")
    package static let accountInvitation = APIPath("/v1/account-invitations/*")
    package static let accounts = APIPath("/v1/accounts")
    package static let auditors = APIPath("/v1/auditors")
    package static let backups = APIPath("/v1/backups")
    package static let device = APIPath("/v1/devices/*")
    package static let devicesLocationPushToken = APIPath("/v1/devices/*/location-push-token")
    package static let devicesPushRequest = APIPath("/v1/devices/*/push-request")
    package static let devicesPushTests = APIPath("/v1/devices/*/push-tests")
    package static let devicesQuestions = APIPath("/v1/devices/*/questions")
    package static let devicesSealing = APIPath("/v1/devices/*/sealing")
    package static let devicesTokens = APIPath("/v1/devices/*/tokens")
    package static let envelopes = APIPath("/v1/envelopes")
    package static let events = APIPath("/v1/events")
    package static let fixes = APIPath("/v1/fixes")
    package static let geocodeForward = APIPath("/v1/geocode/forward")
    package static let geocodeReverse = APIPath("/v1/geocode/reverse")
    package static let grant = APIPath("/v1/grants/*")
    package static let imports = APIPath("/v1/imports")
    package static let importsBatches = APIPath("/v1/imports/*/batches")
    package static let importsEnds = APIPath("/v1/imports/*/ends")
    package static let importsRestorations = APIPath("/v1/imports/*/restorations")
    package static let importsWithdrawals = APIPath("/v1/imports/*/withdrawals")
    package static let invitation = APIPath("/v1/invitations/*")
    package static let linkOpenings = APIPath("/v1/link-openings")
    package static let link = APIPath("/v1/links/*")
    package static let live = APIPath("/v1/live")
    package static let locationQuery = APIPath("/v1/location-queries/*")
    package static let logCheckpoint = APIPath("/v1/log/checkpoint")
    package static let logHeads = APIPath("/v1/log/heads/*")
    /// The tiles of the first 1,000, 1,000,000 and 1,000,000,000 of a level, each with a longer path for those that are not
    /// full.
    package static let logTiles = ["*/*", "*/*/*", "*/*/*/*", "*/*/*/*/*"].map { APIPath("/v1/log/tile/\($0)") }
    package static let people = APIPath("/v1/people")
    package static let person = APIPath("/v1/people/*")
    package static let peopleAsked = APIPath("/v1/people/*/asked")
    package static let peopleAudit = APIPath("/v1/people/*/audit")
    package static let peopleCheckpoint = APIPath("/v1/people/*/checkpoint")
    package static let peopleConsentRequests = APIPath("/v1/people/*/consent-requests")
    package static let peopleConsentRequest = APIPath("/v1/people/*/consent-requests/*")
    package static let peopleCorrections = APIPath("/v1/people/*/corrections")
    package static let peopleCorrection = APIPath("/v1/people/*/corrections/*")
    package static let peopleCrossings = APIPath("/v1/people/*/crossings")
    package static let peopleDevices = APIPath("/v1/people/*/devices")
    package static let peopleEnvelopes = APIPath("/v1/people/*/envelopes")
    package static let peopleExport = APIPath("/v1/people/*/exports/*")
    package static let peopleFindings = APIPath("/v1/people/*/findings")
    package static let peopleGrants = APIPath("/v1/people/*/grants")
    package static let peopleImports = APIPath("/v1/people/*/imports")
    package static let peopleInvitations = APIPath("/v1/people/*/invitations")
    package static let peopleKeys = APIPath("/v1/people/*/keys")
    package static let peopleKey = APIPath("/v1/people/*/keys/*")
    package static let peopleLinks = APIPath("/v1/people/*/links")
    package static let peopleLocation = APIPath("/v1/people/*/location")
    package static let peopleLocationQueries = APIPath("/v1/people/*/location-queries")
    package static let peoplePauses = APIPath("/v1/people/*/pauses")
    package static let peoplePins = APIPath("/v1/people/*/pins")
    package static let peoplePin = APIPath("/v1/people/*/pins/*")
    package static let peoplePlaces = APIPath("/v1/people/*/places")
    package static let peoplePreview = APIPath("/v1/people/*/previews/*")
    package static let peopleProof = APIPath("/v1/people/*/proof")
    package static let peopleRegions = APIPath("/v1/people/*/regions")
    package static let peopleRegion = APIPath("/v1/people/*/regions/*")
    package static let peopleRetention = APIPath("/v1/people/*/retention")
    package static let peopleSchedules = APIPath("/v1/people/*/schedules")
    package static let peopleSchedule = APIPath("/v1/people/*/schedules/*")
    package static let peopleSummary = APIPath("/v1/people/*/summary")
    package static let peopleTokens = APIPath("/v1/people/*/tokens")
    package static let peopleTrack = APIPath("/v1/people/*/track")
    package static let peopleTrackFix = APIPath("/v1/people/*/track/*")
    package static let peopleTrips = APIPath("/v1/people/*/trips")
    package static let peopleVisits = APIPath("/v1/people/*/visits")
    package static let peopleVisit = APIPath("/v1/people/*/visits/*")
    package static let peopleWebhooks = APIPath("/v1/people/*/webhooks")
    package static let peopleWebhook = APIPath("/v1/people/*/webhooks/*")
    package static let peopleWebhooksConfirmation = APIPath("/v1/people/*/webhooks/*/confirmation")
    package static let peopleWebhooksTest = APIPath("/v1/people/*/webhooks/*/test")
    package static let peopleWebhooksDeadLetters = APIPath("/v1/people/*/webhooks/*/dead-letters")
    package static let peopleWebhooksDeadLetter = APIPath("/v1/people/*/webhooks/*/dead-letters/*")
    package static let peopleWebhooksDeadLettersRetry = APIPath("/v1/people/*/webhooks/*/dead-letters/*/retry")
    package static let peopleWithdrawnFixes = APIPath("/v1/people/*/withdrawn-fixes")
    package static let placesNames = APIPath("/v1/places/names")
    package static let projections = APIPath("/v1/projections")
    package static let projectionsActivate = APIPath("/v1/projections/*/activate")
    package static let projectionsDiff = APIPath("/v1/projections/*/diff")
    package static let projectionsRebuild = APIPath("/v1/projections/*/rebuild")
    package static let projectionsRebuildAll = APIPath("/v1/projections/rebuilds")
    package static let projectionsRollback = APIPath("/v1/projections/*/rollback")
    package static let projectionsPrune = APIPath("/v1/projections/prune")
    package static let pushBudgets = APIPath("/v1/push-budgets")
    package static let redemptions = APIPath("/v1/redemptions")
    package static let reports = APIPath("/v1/reports")
    package static let retention = APIPath("/v1/retention")
    package static let sharedWithMe = APIPath("/v1/shared-with-me")
    package static let signInCodes = APIPath("/v1/sign-in-codes")
    package static let token = APIPath("/v1/tokens/*")
    package static let verify = APIPath("/v1/verify")
}

/// The headers of a person's track as a file.
package enum ExportHeader {
    /// How many fixes the file has.
    package static let count = "whereabouts-count"
}
