/// The names of the schemas of request bodies and answers.
extension Operation {
    /// The schema names of the body, the answer and an item of a page. `nil` if the schema already has a name or has no
    /// members.
    struct Names: Sendable {
        var body: String?
        var answer: String?
        var item: String?

        /// The names of a list: `Visit` for an item, `VisitPage` for the page.
        init(_ item: String) { (self.item, answer) = (item, item + "Page") }
        /// Names for the parts that are given; the others are made from the `operationId`.
        init(body: String? = nil, answer: String? = nil, item: String? = nil) {
            (self.body, self.answer, self.item) = (body, answer, item)
        }
    }

    /// By method and path of the route. A route without an entry gets its names from its `operationId`.
    static let names: [String: Names] = [
        // Location queries.
        "POST /v1/people/*/location-queries": Names(body: "NewLocationQuery", answer: "StartedLocationQuery"),
        "GET /v1/location-queries/*": Names(answer: "LocationQuery"),
        "DELETE /v1/location-queries/*": Names(answer: "EndedLocationQuery"),
        // Stored data.
        "GET /v1/people/*/location": Names(answer: "LastLocation"),
        "GET /v1/people/*/track": Names("TrackFix"),
        "GET /v1/people/*/visits": Names("Visit"),
        "GET /v1/people/*/visits/*": Names(answer: "ExplainedVisit"),
        "GET /v1/people/*/crossings": Names("Crossing"),
        "GET /v1/people/*/trips": Names("Trip"),
        "GET /v1/people/*/places": Names("VisitedPlace"),
        "GET /v1/people/*/summary": Names("SummaryPeriod"),
        "GET /v1/people/*/audit": Names("AuditEntry"),
        "GET /v1/people/*/asked": Names("AskedEntry"),
        "GET /v1/people/*/findings": Names("Finding"),
        "GET /v1/people/*/regions": Names("Region"),
        "GET /api/0/version": Names(answer: "RecorderVersion"),
        "GET /api/0/list": Names(answer: "RecorderList"),
        // Geocoding.
        "GET /v1/places/names": Names(answer: "MapNames", item: "MapName"),
        "POST /v1/geocode/reverse": Names(body: "Coordinates", answer: "Placemarks"),
        "GET /v1/geocode/forward": Names(answer: "FoundPlaces"),
        "POST /v1/geocode/forward": Names(body: "PlaceNames", answer: "LikeliestPlaces"),
        // Device reports.
        "POST /v1/reports": Names(body: "DeviceReports"),
        "POST /overland": Names(answer: "OverlandAnswer"),
        "POST /v1/imports/*/batches": Names(body: "ImportBatch"),
        "PUT /v1/devices/*/location-push-token": Names(body: "LocationPushToken"),
        // Sharing.
        "POST /v1/people/*/grants": Names(body: "NewGrant", answer: "AddedGrant"),
        "GET /v1/people/*/grants": Names("Grant"),
        "POST /v1/people/*/pauses": Names(body: "NewPause"),
        "GET /v1/people/*/pauses": Names("Pause"),
        "POST /v1/people/*/invitations": Names(body: "NewInvitation", answer: "AddedInvitation"),
        "GET /v1/people/*/invitations": Names("Invitation"),
        "POST /v1/redemptions": Names(body: "Redemption", answer: "RedeemedInvitation"),
        "GET /v1/people/*/consent-requests": Names("ConsentRequest"),
        "POST /v1/people/*/consent-requests/*": Names(body: "ConsentAnswer"),
        // People and devices.
        "POST /v1/account-invitations": Names(body: "NewAccountInvitation", answer: "AddedAccountInvitation"),
        "GET /v1/account-invitations": Names("AccountInvitation"),
        "POST /v1/accounts": Names(body: "NewAccount", answer: "AddedAccount"),
        "POST /v1/people": Names(body: "NewPerson", answer: "AddedPerson"),
        "GET /v1/people": Names("Person"),
        "DELETE /v1/people/*": Names(answer: "Erasure"),
        "POST /v1/people/*/devices": Names(body: "NewDevice", answer: "AddedDevice"),
        "GET /v1/people/*/devices": Names("Device"),
        "POST /v1/devices/*/tokens": Names(answer: "AddedToken"),
        "POST /v1/people/*/tokens": Names(body: "NewToken", answer: "AddedToken"),
        "GET /v1/people/*/tokens": Names("Token"),
        "POST /v1/people/*/regions": Names(body: "NewRegion", answer: "AddedRegion"),
        "POST /v1/people/*/corrections": Names(answer: "AddedCorrection"),
        "GET /v1/people/*/corrections": Names("Correction"),
        "POST /v1/people/*/schedules": Names(body: "NewSchedule", answer: "AddedSchedule"),
        "GET /v1/people/*/schedules": Names("Schedule"),
        "POST /v1/people/*/webhooks": Names(body: "NewWebhook", answer: "AddedWebhook"),
        "GET /v1/people/*/webhooks": Names("Webhook"),
        "GET /v1/people/*/webhooks/*/dead-letters": Names("DeadLetter"),
        "POST /v1/people/*/webhooks/*/dead-letters/*/retry": Names(answer: "RetriedDeadLetter"),
        "GET /v1/shared-with-me": Names("SharingPerson"),
        "GET /v1/people/*/previews/*": Names(answer: "Preview"),
        // The page.
        "GET /session": Names(answer: "Session"),
        "POST /session": Names(body: "SignIn", answer: "SignedIn"),
        "POST /v1/sign-in-codes": Names(body: "NewSignInCode", answer: "SignInCode"),
        // Operation.
        "POST /v1/devices/*/push-tests": Names(answer: "PushTest"),
        "GET /v1/devices/*/push-request": Names(answer: "PushRequest"),
        "GET /v1/events": Names("LogEvent"),
        "GET /v1/verify": Names(answer: "Verification"),
        "GET /v1/projections": Names("Projection"),
        "POST /v1/backups": Names(answer: "Backup"),
        "POST /v1/projections/prune": Names(body: "PruningRequest", answer: "PrunedGenerations"),
        "POST /v1/projections/*/rebuild": Names(body: "RebuildRequest"),
        "GET /v1/projections/*/diff": Names(answer: "ProjectionDifference"),
        "GET /healthz": Names(answer: "Health"),
        "GET /readyz": Names(answer: "Readiness"),
    ]
}
