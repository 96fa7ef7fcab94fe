/// Every bound of the service that does not belong to one algorithm, in one place.
package enum Limits {
    /// Bytes of a request body on an ingest route.
    package static let ingestBodyBytes = 1 << 20
    /// Bytes of a body whose beginning is kept as rejected and whose client is told that all is well, because after a
    /// refusal it would send it again for ever.
    package static let droppedBodyBytes = 16 << 20
    /// Bytes of any other request body.
    package static let bodyBytes = 64 << 10
    /// Fixes in one batch of an import, a report or an append.
    package static let batchCommands = 1000
    /// A fix further ahead of the house than this is kept as rejected: the device's clock is wrong.
    package static let futureRejectedSeconds: Int64 = 24 * 3600
    /// A fix further ahead than this at its receipt is in the log and unused by folds.
    package static let futureUnusedSeconds: Int64 = 60
    /// Oldest time a fix may claim: 1990-01-01T00:00:00Z, before any client existed.
    package static let oldestFix = Timestamp(milliseconds: 631_152_000_000)
    /// What is kept of a rejected report.
    package static let rejectedBytes = 4096
    /// Distinct rejected reports and messages in a client's own words remembered per device, so that a resent one is not
    /// an event again.
    package static let keptRemembered = 256
    /// Rejected reports of a device that its owner is shown, the newest, and of how many days.
    package static let rejectionsShown = 20
    package static let rejectionsShownSeconds: Int64 = 7 * 86_400
    /// Sightings remembered per device, for the same reason: all of the largest batch.
    package static let sightingsRemembered = batchCommands
    /// Friends whose places one answer to a phone tells.
    package static let friendsInAnswer = 50
    /// Characters of a client's own name for a kind of message.
    package static let messageTypeCharacters = 64
    /// What is kept of members no field stands for.
    package static let remainderBytes = 1024
    /// A person's query is answered or over after this.
    package static let queryDeadlineSeconds: Int64 = 60
    /// How long before its deadline a coarse query is answered by a fix that nobody asked for.
    package static let coarseAnswerSeconds: Double = 1
    /// The service's own query is answered or over after this.
    package static let serverQueryDeadlineSeconds: Int64 = 15 * 60
    /// How long after the deadline a query waits for the outcome of a push under way.
    package static let lastWordSeconds: Int64 = 1
    /// Longest deadline an asker may choose.
    package static let longestQueryDeadlineSeconds: Int64 = 3600
    /// A fix this young answers a query without a push, unless the asker says otherwise.
    package static let defaultMaxAgeSeconds: Int64 = 60
    /// An ended query can be read this long after its deadline.
    package static let endedQueryKeptSeconds: Int64 = 15 * 60
    /// Queries under way at once.
    package static let openQueries = 100_000
    /// Location pushes of one device: 360 in 24 hours, refilled one by one. Apple: about that many, and none at all for a
    /// while once they are used up.
    package static let pushBudget = Allowance.Rate(capacity: 360, refillSeconds: 240)
    /// The service's own asks leave this last third of the budget to persons.
    package static let pushesKeptForPersons: Int64 = 120
    /// Between two pushes to one device; whoever asks in between shares the first or waits for the second.
    package static let secondsBetweenPushes: Int64 = 60
    /// A grant without a named end lasts so long: a month is easily renewed, and a forgotten grant ends.
    package static let defaultGrantSeconds: Int64 = 30 * 86_400
    /// The longest grant: once a year the subject says again that it is so.
    package static let longestGrantSeconds: Int64 = 366 * 86_400
    package static let grantsPerPerson = 1000
    /// Pauses are kept for ever, because what is from one is never shown.
    package static let pausesPerPerson = 10_000
    /// A code is passed on today, or at most this week.
    package static let defaultInvitationSeconds: Int64 = 86_400
    package static let longestInvitationSeconds: Int64 = 7 * 86_400
    package static let invitationsPerPerson = 20
    /// Invitations to an account that one person, or the operator, may have open.
    package static let accountInvitationsPerPerson = 20
    package static let accountInvitationsOfOperator = 1000
    /// What somebody may call themselves; the service adds a hyphen and four characters.
    package static let accountNameCharacters = 58
    /// Streams open at once, of all and of one person: a person has a few apps and pages.
    package static let liveStreams = 500
    package static let liveStreamsPerPerson = 8
    /// Without anything to tell, a stream shows so often that it is there; proxies wait a minute.
    package static let liveHeartbeatSeconds: Int64 = 15
    /// What may wait for a slow reader before it is cut off: a few hundred events.
    package static let liveBytesWaiting = 256 << 10
    /// Questions of one asker about one person that need a push: six an hour, three at once.
    package static let pushesPerAsker = Allowance.Rate(capacity: 3, refillSeconds: 600)
    /// Readings of one person by one asker: sixty an hour, three at once.
    package static let readsPerAsker = Allowance.Rate(capacity: 3, refillSeconds: 60)
    /// A read can be continued page by page for so long.
    package static let readContinuedSeconds: Int64 = 600
    /// So many reads of one asker about one person can be continued side by side.
    package static let readsContinued = 3
    /// Between two questions of a schedule: a service's own question may take fifteen minutes.
    package static let scheduleSeconds: ClosedRange<Int64> = serverQueryDeadlineSeconds...86_400
    package static let schedulesPerPerson = 8
    package static let webhooksPerPerson = 4
    /// Of all persons together: each is looked at ten times a second.
    package static let webhooks = 1000
    package static let webhookURLBytes = 2048
    /// A webhook that gave up so many messages stops until some are retried or discarded.
    package static let deadLettersPerWebhook = 100
    /// Characters are Unicode's scalars: what a reader sees as one may be of any length.
    package static let purposeCharacters = 500
    package static let regionNameCharacters = 64
    /// Of what somebody looks for in the gazetteer; the longest name there has 80.
    package static let searchCharacters = 200
    package static let regionsPerPerson = 10_000
    /// Looked through at each reading of visits.
    package static let correctionsPerPerson = 1000
    package static let placeNameCharacters = 64
    /// What was done for a request with an `Idempotency-Key` is remembered so long, and of so many requests of one caller:
    /// a client that got no answer sends again within minutes.
    package static let keyedRequestKeptSeconds: Int64 = 86_400
    package static let keyedRequestsKept = 1000
    /// Characters of such a key.
    package static let requestKeyCharacters = 255
    /// Refusals of one asker recorded one by one in a minute; the others of that minute become one counted event.
    package static let refusalsRecordedAMinute = 10
    /// The same location push token registered again is an event once a minute: apps send it at each start.
    package static let pushTokenRenewalSeconds: Int64 = 60
    /// Bytes of a device's location push token. Apple: never assume its length.
    package static let pushTokenBytes = 4...100
}
