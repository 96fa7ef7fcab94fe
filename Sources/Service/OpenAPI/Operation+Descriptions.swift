/// The descriptions of the operations in the API description. HTTP.md explains them in full.
extension Operation {
    /// By method and path of the route: who may call it, its effects beside the answer, and the meaning of its
    /// refusals.
    static let descriptions: [String: String] = [
        // Location queries.
        "POST /v1/people/*/location-queries":
            "Needs a token with the scope `query` and a grant of the person's. If no fix is young enough, the person's phone is woken. The query, its purpose and its outcome are recorded, and the person sees them. Without a grant the answer is 404, as for a person who does not exist.",
        "GET /v1/location-queries/*":
            "Only for the requester. With `wait`, the answer comes as soon as the query is no longer pending. Each answer with a location is recorded as a disclosure before it is sent.",
        "DELETE /v1/location-queries/*": "Only for the asker. The person sees that the query was cancelled.",
        // Stored data.
        "GET /v1/people/*/location":
            "For the person, the operator, or a person with a grant. The read is recorded before the answer is sent. `location` is null if there is none.",
        "GET /v1/people/*/track":
            "In order of time. For the person, the operator, or a person with a grant that includes history. The read is recorded before the answer is sent.",
        "GET /v1/people/*/visits":
            "In order of arrival. `departure` is null for a visit under way. The read is recorded before the answer is sent.",
        "GET /v1/people/*/visits/*":
            "The three fixes before and after the visit, and those during it. If the visit has changed since, `visit` is null and `successor` is the id of the visit at its time. The read is recorded before the answer is sent.",
        "GET /v1/people/*/crossings":
            "Entries and exits in order of time; an exit has the seconds that the person stayed. The read is recorded before the answer is sent.",
        "GET /v1/people/*/trips":
            "The movements between visits, with distance and mode, and the gaps of more than ten minutes without data. The read is recorded before the answer is sent.",
        "GET /v1/people/*/places":
            "The place with the most time comes first. The read is recorded before the answer is sent.",
        "GET /v1/people/*/summary":
            "Stays, trips and time without data, at most 93 days at once. Periods begin by the local time where the person was. The read is recorded before the answer is sent.",
        "GET /v1/people/*/audit":
            "The newest entry comes first. Needs the scope `audit`. Entries are queries with their pushes, fixes and disclosures, reads, changes of rights, and the operator's acts that concern everyone. The read is recorded too.",
        "GET /v1/people/*/asked":
            "The newest entry comes first. Needs the scope `audit`. Entries show what the person saw, as hashes instead of locations.",
        "GET /v1/people/*/findings":
            "Over 90 days, for example 12 questions in one day or questions in three nights of two weeks. Needs the scope `audit`.",
        "GET /v1/people/*/regions":
            "In the form in which they were added. The read is recorded before the answer is sent.",
        "GET /v1/live":
            "Needs the person's own token with the scope `audit`. A client that sends the last `id` in `Last-Event-ID` gets every event since, at least once. Each batch is recorded as a read before it is sent.",
        // OwnTracks Recorder.
        "GET /api/0/version":
            "For clients of the OwnTracks Recorder. The token can be the password of the person's handle.",
        "GET /api/0/list":
            "Without `user`, the people whom the caller may locate; with `user`, the person's devices, or `phone` for all of them under a grant.",
        "GET /api/0/last": "At most 50 people. Each person in the answer is a recorded read.",
        "GET /api/0/locations":
            "At most 20,000 fixes. Without `from`, the range is the last six hours. The read is recorded before the answer is sent.",
        // Geocoding.
        "GET /v1/geocode/reverse":
            "Needs any valid token. Concerns no person, so it is not recorded. `latitude`, `longitude` and `distance` are those of the nearest populated place.",
        "GET /v1/places/names":
            "The most populous places of the box come first. Needs any valid token. Concerns no person, so it is not recorded.",
        "POST /v1/geocode/reverse":
            "In the order of the request. Needs any valid token. Concerns no person, so it is not recorded.",
        "GET /v1/geocode/forward":
            "The likeliest place comes first. Finds places, countries, first-order divisions, airports, lakes, and imported addresses and postal codes. Needs any valid token.",
        "POST /v1/geocode/forward":
            "In the order of the request, with null for a name that is not found. Needs any valid token.",
        // Device reports.
        "POST /v1/fixes":
            "Needs the device's reporting key as the bearer token. A repeated fix counts as a duplicate and makes no event. A fix that cannot be used is kept as rejected, with its reason.",
        "POST /v1/reports":
            "Needs the device's reporting key as the bearer token. A report that cannot be read is kept as rejected and does not affect the others.",
        "POST /owntracks":
            "User name and password are the device's handle and reporting key. The answer has the friends whose locations have changed, and commands to the app.",
        "POST /pub": "As `POST /owntracks`.",
        "POST /overland": "Needs the device's reporting key as the bearer token, or in Overland's OwnTracks mode.",
        "GET /osmand":
            "`id` is the device's reporting key. `speed` is in knots, or in meters per second for OsmAnd's own template.",
        "POST /osmand":
            "`id` or `device_id` is the device's reporting key. Takes a form, Traccar Client's JSON, or the array of its SDK.",
        "GET /index.php/apps/phonetrack/logGet/*/*": "The key in the path is the device's reporting key.",
        "POST /index.php/apps/phonetrack/logPost/*/*": "The key in the path is the device's reporting key.",
        "POST /index.php/apps/phonetrack/logPostMultiple/*/*": "The key in the path is the device's reporting key.",
        "POST /ulogger/client/index.php":
            "The actions `auth`, `addtrack` and `addpos`. User and password are the device's handle and reporting key.",
        "POST /api/webhook/*":
            "The key in the path is the device's reporting key. Its location has no time, so it is taken as now.",
        "POST /v1/imports/*/batches":
            "Only for the operator. The id of an import is a UUID that the client chooses. Fixes that are in the log already count as duplicates, so a batch can be sent again. Give `device` and `fixes`, or `devices`: those share commits, a person or device that does not exist is added with its fixes, and visits of another system become reported visits.",
        "PUT /v1/devices/*/location-push-token":
            "Needs the device's reporting key as the bearer token. The token replaces the one before.",
        // Sharing.
        "POST /v1/people/*/grants":
            "For the person (scope `manage`) or the operator. Without an end the grant lasts 30 days, at most 366. For a requester who does not exist the answer is the same, except to the operator.",
        "GET /v1/people/*/grants": "For the person (scope `manage`) or the operator.",
        "DELETE /v1/grants/*":
            "For the person who gave it (scope `manage`) or the operator. Queries under way by this grant end too.",
        "POST /v1/people/*/pauses":
            "For the person (scope `manage`) or the operator. Others see a phone that is switched off, and never see what happens during the pause. A second pause replaces the end of the first.",
        "GET /v1/people/*/pauses": "For the person (scope `manage`) or the operator.",
        "DELETE /v1/people/*/pauses": "For the person (scope `manage`) or the operator.",
        "POST /v1/people/*/invitations":
            "For the person (scope `manage`) or the operator. The code gives the grant to the first person who redeems it, and is shown only once.",
        "GET /v1/people/*/invitations": "For the person (scope `manage`) or the operator. Codes are not shown.",
        "DELETE /v1/invitations/*": "For the person (scope `manage`) or the operator. The code stops working.",
        "POST /v1/redemptions":
            "Needs the token (scope `query`) of the person who gets the grant. A wrong, used, withdrawn or expired code is 404.",
        "GET /v1/people/*/consent-requests":
            "For the person (scope `manage`) or the person's device, never for the operator.",
        "POST /v1/people/*/consent-requests/*":
            "For the person (scope `manage`) or the person's device, never for the operator.",
        // People and devices.
        "POST /v1/account-invitations":
            "For the operator, or a person (scope `manage`) with at most 20 open ones. The code opens one account and is shown only once.",
        "GET /v1/account-invitations": "Codes are not shown.",
        "DELETE /v1/account-invitations/*": "The code stops working.",
        "POST /v1/accounts":
            "Without a token. The handle is `name` and four characters. The token is shown only once. A wrong, used, withdrawn or expired code is 404.",
        "POST /v1/people": "Only for the operator. The answer is 409 if the handle is taken.",
        "GET /v1/people": "Only for the operator.",
        "DELETE /v1/people/*":
            "For the person (scope `manage`) or the operator. Destroys the person's keys here and in the known backups. No data of the person can be read again, and the log still verifies.",
        "POST /v1/people/*/devices":
            "For the person (scope `manage`) or the operator. The password is the reporting key and is shown only once. A person's device is called `PERSON.NAME`.",
        "GET /v1/people/*/devices":
            "With last contact, last fix, battery, app, wrong passwords, and the reports of the last seven days that could not be used.",
        "DELETE /v1/devices/*":
            "For the person (scope `manage`) or the operator. The reporting keys stop working; the history stays.",
        "POST /v1/devices/*/tokens": "For the person (scope `manage`) or the operator. The key is shown only once.",
        "POST /v1/people/*/tokens": "For the person (scope `manage`) or the operator. The token is shown only once.",
        "GET /v1/people/*/tokens": "Reporting keys of the person's devices included. Secrets are not shown.",
        "DELETE /v1/tokens/*": "For the person (scope `manage`) or the operator. The token stops working at once.",
        "POST /v1/people/*/regions":
            "For the person (scope `manage`) or the operator. The id is unique for the person.",
        "DELETE /v1/people/*/regions/*":
            "For the person (scope `manage`) or the operator. Its crossings are removed too.",
        "POST /v1/people/*/corrections":
            "For the person (scope `manage`) or the operator. A correction refers to times and places, so it still applies when visits are derived again. At most 1000.",
        "GET /v1/people/*/corrections":
            "In the form in which they were added. The read is recorded before the answer is sent.",
        "DELETE /v1/people/*/corrections/*": "For the person (scope `manage`) or the operator.",
        "POST /v1/people/*/schedules":
            "For the person (scope `manage`) or the operator. The service asks at this interval unless a fix is younger than half of it. At most 8.",
        "GET /v1/people/*/schedules": "For the person (scope `manage`) or the operator.",
        "DELETE /v1/people/*/schedules/*": "For the person (scope `manage`) or the operator.",
        "POST /v1/people/*/webhooks":
            "Needs the person's own token with the scopes `manage` and `audit`. The operator must have allowed the target's origin. The secret that signs messages is shown only once.",
        "GET /v1/people/*/webhooks": "For the person (scope `manage`) or the operator.",
        "DELETE /v1/people/*/webhooks/*":
            "For the person (scope `manage`) or the operator. Unsent messages are dropped.",
        "GET /v1/people/*/webhooks/*/dead-letters":
            "The messages that the webhook gave up on, after about a day. For the person (scope `manage`) or the operator.",
        "POST /v1/people/*/webhooks/*/dead-letters/*/retry":
            "The message leaves the list when the target takes it. The act is recorded first.",
        "DELETE /v1/people/*/webhooks/*/dead-letters/*": "For the person (scope `manage`) or the operator.",
        // Operation.
        "POST /v1/devices/*/push-tests":
            "Only for the operator. The push is real and recorded, counts against the device's budget, and the person sees it.",
        "GET /v1/devices/*/push-request":
            "Only for the operator. The answer has the person's device token, so it is recorded as a read.",
        "GET /v1/events":
            "Only for the operator. Decrypting a person's events is recorded as a read; with `asStored` nothing is decrypted.",
        "GET /v1/verify": "Only for the operator. Takes as long as a refold of the whole log.",
        "GET /v1/projections": "Only for the operator. With the number of the newest event that each has folded.",
        "POST /v1/backups":
            "Only for the operator. Writes a verified copy of the log and its keys into the folder `backup` of the data directory.",
        "POST /v1/projections/prune": "Only for the operator. Deletes every generation that is not active.",
        "POST /v1/projections/*/rebuild":
            "Only for the operator. Folds a new generation from the whole log beside the active one.",
        "POST /v1/projections/*/activate": "Only for the operator. The answer is 409 if the rebuild is not done.",
        "POST /v1/projections/*/rollback":
            "Only for the operator. The answer is 409 if there is no previous generation.",
        "GET /v1/projections/*/diff": "Only for the operator.",
        "GET /v1/shared-with-me":
            "The people whom you may ask now. `location`: whether you may read the stored location without a question; `history`: whether also the past. Needs the scope `query`. Not recorded: it says only what asking would.",
        "GET /v1/people/*/previews/*":
            "For the person or the operator, with the scopes `manage` and `query`. `location` is null if the other person would see none; `reason` says why. Recorded as a read of your own before the answer is sent.",
        "GET /session":
            "The rights of the page's cookie, or of the token that is sent. `person` is null for the operator. The answer is 204 if no one is signed in.",
        "POST /session":
            "With a token or a one-time code, as JSON or as a form. Sets the cookie `whereabouts_session`; a form is answered with 303 to `next`. Every wrong token or code gets the same 401, and 429 after many. A sign-in from another page's form is refused with 403.",
        "DELETE /session": "Ends the session of the cookie that the request has.",
        "POST /session/end":
            "As `DELETE /session`, for pages without scripts: a browser that sends a form gets 303 to `/`.",
        "POST /v1/sign-in-codes":
            "For yourself, or as the operator for anyone. Needs the scope `manage`. The code opens one session within 15 minutes and replaces an earlier code that is unused. Opening `path` shows a button; only the button uses the code.",
        "GET /metrics": "Only for the operator. No personal data.",
        "GET /healthz": "The answer is 503 after a fault has stopped the log.",
        "GET /readyz": "The answer is 503 with the reason while the disk is full or a projection is being refolded.",
        "GET /openapi.json": "OpenAPI 3.1.",
    ]
}
