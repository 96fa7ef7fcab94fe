/// Every bound of the service that does not belong to one algorithm.
package enum Limits {
    /// The bytes of a request body with reports.
    package static let ingestBodyBytes = 1 << 20
    /// The bytes of a body that is too long but acknowledged, because its client would repeat a refused one without end.
    /// Its beginning is kept as rejected.
    package static let droppedBodyBytes = 16 << 20
    /// The bytes of any other request body.
    package static let bodyBytes = 64 << 10
    /// The fixes in one batch of an import, a report or an append.
    package static let batchCommands = 1000
    /// A fix further ahead of the house's clock than this is rejected: the device's clock is wrong.
    package static let futureRejectedSeconds: Int64 = 24 * 3600
    /// A fix further ahead than this at its receipt is in the log, but folds do not use it.
    package static let futureUnusedSeconds: Int64 = 60
    /// The oldest time of a fix: 1990-01-01T00:00:00Z, before any client existed.
    package static let oldestFix = Timestamp(milliseconds: 631_152_000_000)
    /// The bytes kept of a rejected report.
    package static let rejectedBytes = 4096
    /// The distinct rejected reports and client messages remembered for each device, so that a repeated one is not another
    /// event.
    package static let keptRemembered = 256
    /// The newest rejected reports of a device that its owner sees.
    package static let rejectionsShown = 20
    /// How far back these reports reach.
    package static let rejectionsShownSeconds: Int64 = 7 * 86_400
    /// The sightings remembered for each device, to recognize repeats: as many as in the largest batch.
    package static let sightingsRemembered = batchCommands
    /// The friends whose locations are in one answer to a phone.
    package static let friendsInAnswer = 50
    /// The characters of a client's name for a kind of message.
    package static let messageTypeCharacters = 64
    /// The bytes kept of members that have no field.
    package static let remainderBytes = 1024
    /// A person's query is answered or ends after this time.
    package static let queryDeadlineSeconds: Int64 = 60
    /// How long before its deadline a coarse query is answered by a fix that was not its own answer.
    package static let coarseAnswerSeconds: Double = 1
    /// The service's own query is answered or ends after this time.
    package static let serverQueryDeadlineSeconds: Int64 = 15 * 60
    /// How long after its deadline a query waits for the outcome of a push under way.
    package static let lastWordSeconds: Int64 = 1
    /// The longest deadline that a requester may choose.
    package static let longestQueryDeadlineSeconds: Int64 = 3600
    /// A fix at most this old answers a query without a push, unless the requester chooses another age.
    package static let defaultMaxAgeSeconds: Int64 = 60
    /// How long after its deadline an ended query can be read.
    package static let endedQueryKeptSeconds: Int64 = 15 * 60
    /// The queries under way at the same time.
    package static let openQueries = 100_000
    /// The queries under way of one requester about one person.
    package static let openQueriesPerAsker = 256
    /// The location pushes of one device: 360 in 24 hours, refilled one by one. Apple allows about that many, and none
    /// for a while once they are used up.
    package static let pushBudget = Allowance.Rate(capacity: 360, refillSeconds: 240)
    /// The last third of the budget, which the service's own queries leave to persons.
    package static let pushesKeptForPersons: Int64 = 120
    /// The seconds between two pushes to one device. A query in between shares the first push or waits for the second.
    package static let secondsBetweenPushes: Int64 = 60
    /// The length of a grant without a given end: a month is easily renewed, and a forgotten grant ends.
    package static let defaultGrantSeconds: Int64 = 30 * 86_400
    /// The longest grant: once a year the subject must confirm it.
    package static let longestGrantSeconds: Int64 = 366 * 86_400
    /// The grants that a person has at the same time.
    package static let grantsPerPerson = 1000
    /// The pauses of a person. They are kept for ever, because data from one is never shown.
    package static let pausesPerPerson = 10_000
    /// The time until an invitation's code expires, by default.
    package static let defaultInvitationSeconds: Int64 = 86_400
    /// The longest time until an invitation's code expires.
    package static let longestInvitationSeconds: Int64 = 7 * 86_400
    /// The open invitations to a grant of one person.
    package static let invitationsPerPerson = 20
    /// The open invitations to an account of one person.
    package static let accountInvitationsPerPerson = 20
    /// The open invitations to an account of the operator.
    package static let accountInvitationsOfOperator = 1000
    /// The invitations to an account that one person may make: ten a day, ten at once.
    package static let accountInvitationsPerInviter = Allowance.Rate(capacity: 10, refillSeconds: 8640)
    /// The invitations to an account of a whole invitation tree (``Standing/tree(of:)-(PersonID)``): thirty a day,
    /// thirty at once.
    package static let accountInvitationsPerTree = Allowance.Rate(capacity: 30, refillSeconds: 2880)
    /// How long a session of the web page lasts.
    package static let sessionSeconds: Int64 = 30 * 86_400
    /// How long a session of the operator lasts: a browser that stays open must not stay the operator's for weeks.
    package static let operatorSessionSeconds: Int64 = 86_400
    /// How long a one-time code opens a session.
    package static let signInCodeSeconds: Int64 = 15 * 60
    /// The sessions of one holder; a further one ends the oldest.
    package static let sessionsPerHolder = 32
    /// The share links of one person that show something.
    package static let linksPerPerson = 20
    /// The characters of a link's name.
    package static let linkNameCharacters = 64
    /// The most openings that a link can be limited to.
    package static let linkOpeningsMax: Int64 = 1000
    /// The characters of a link's passphrase.
    package static let linkPassphraseCharacters = 128
    /// How long a link lasts if no end is given.
    package static let defaultLinkSeconds: Int64 = 86_400
    /// How long an opening of a link shows something if the link is not live.
    package static let linkLookSeconds: Int64 = 600
    /// The openings of one link: twenty at once, one a minute.
    package static let linkOpenings = Allowance.Rate(capacity: 20, refillSeconds: 60)
    /// Those who have opened one link and may still look; a further one ends the oldest.
    package static let openedPerLink = 64
    /// The wrong tokens and codes shown at the sign-in form: thirty at once, one in two seconds.
    package static let wrongSignIns = Allowance.Rate(capacity: 30, refillSeconds: 2)
    /// The characters of a chosen account name; the service adds a hyphen and four characters.
    package static let accountNameCharacters = 58
    /// The open streams of all persons. The persons of one invitation tree together have at most as many as are left
    /// for the others: a tree that takes all it can gets half.
    package static let liveStreams = 500
    /// The open streams of one person, who has a few apps and pages.
    package static let liveStreamsPerPerson = 8
    /// The interval at which an idle stream sends a comment; proxies wait a minute.
    package static let liveHeartbeatSeconds: Int64 = 15
    /// The bytes that wait for a slow reader before it is cut off: a few hundred events.
    package static let liveBytesWaiting = 256 << 10
    /// The queries of one requester about one person that need a push: six an hour, three at once.
    package static let pushesPerAsker = Allowance.Rate(capacity: 3, refillSeconds: 600)
    /// The reads of one person by one requester: sixty an hour, three at once.
    package static let readsPerAsker = Allowance.Rate(capacity: 3, refillSeconds: 60)
    /// The reads by one share link, by all who have opened it: sixty at once, then one in four seconds.
    package static let readsPerLink = Allowance.Rate(capacity: 60, refillSeconds: 4)
    /// How long a read can be continued page by page.
    package static let readContinuedSeconds: Int64 = 600
    /// The reads of one requester about one person that can be continued side by side.
    package static let readsContinued = 3
    /// The days that reports may be kept; 0 keeps the present UTC day only.
    package static let retentionDays: ClosedRange<Int64> = 0...36_500
    /// From this many days on, a rule is served by keys of months: a month more or less then matters little.
    package static let monthlyKeysFromDays: Int64 = 366
    /// The rules that a person, or the house, can set in all. Each is remembered, because it decides which key sealed.
    package static let retentionRules = 200
    /// The interval of a schedule; the service's own query may take fifteen minutes.
    package static let scheduleSeconds: ClosedRange<Int64> = serverQueryDeadlineSeconds...86_400
    /// The schedules of one person.
    package static let schedulesPerPerson = 8
    /// The webhooks of one person.
    package static let webhooksPerPerson = 4
    /// The webhooks of all persons: each is checked ten times a second. An invitation tree has at most as many as are
    /// left for the others.
    package static let webhooks = 1000
    /// The time without a fix after which a person can call a device silent: a quarter of an hour to thirty days.
    package static let silenceSeconds: ClosedRange<Int64> = 900...2_592_000
    /// The lengths of one silence of a device that are recorded. Someone could otherwise fill the log with webhooks of
    /// ever other lengths.
    package static let silencesPerDevice = 32
    /// The silences recorded at once; the others follow a second later.
    package static let silencesAtOnce = 100
    /// The life of the code that confirms an address.
    package static let codeSeconds: Int64 = 86_400
    /// The codes mailed in a day for one person, and for all persons, so that unwilling recipients get few.
    package static let codesPerDay = (person: 5, all: 500)
    /// The test messages of a webhook: three at once, then one every ten minutes.
    package static let testsPerWebhook = Allowance.Rate(capacity: 3, refillSeconds: 600)
    /// The bytes of a webhook's URL.
    package static let webhookURLBytes = 2048
    /// A webhook that gave up this many messages stops until some are retried or discarded.
    package static let deadLettersPerWebhook = 100
    /// The characters of a purpose. Characters are Unicode scalars here, because a visible character may be of any
    /// length.
    package static let purposeCharacters = 500
    /// The characters of a region's name.
    package static let regionNameCharacters = 64
    /// The processor time of one person's geocoding: two seconds at once, and a tenth of a processor in the long run. A
    /// misspelled name takes 4 ms, so typing never reaches this limit; 25 such names a second do.
    package static let geocodingPerPerson = CostBudget.Rate(capacitySeconds: 2, share: 0.1)
    /// The processor time of a whole invitation tree's geocoding.
    package static let geocodingPerTree = CostBudget.Rate(capacitySeconds: 4, share: 0.2)
    /// The characters of a search in the gazetteer; its longest name has 80.
    package static let searchCharacters = 200
    /// The regions of one person.
    package static let regionsPerPerson = 10_000
    /// The corrections of one person, all of which each read of visits uses.
    package static let correctionsPerPerson = 1000
    /// The imports into one person's history, each of which is an entry of the standing.
    package static let importsPerPerson = 10_000
    /// The records that an import may count in one history.
    package static let importedRecords: Int64 = 1_000_000_000_000
    /// The characters of an imported file's name; a file system allows 255 bytes.
    package static let fileNameCharacters = 255
    /// The characters of the name of a file's format.
    package static let fileFormatCharacters = 64
    /// The characters of the reason why a file was not imported to its end.
    package static let importFaultCharacters = 1000
    /// The runs of withdrawn fixes and visits of one person: each withdrawn fix is one, and a whole import is a few.
    package static let withdrawnRangesPerPerson = 10_000
    /// The characters of a person's name for a place.
    package static let placeNameCharacters = 64
    /// How long the outcome of a request with an `Idempotency-Key` is remembered. A client without an answer repeats
    /// its request within minutes.
    package static let keyedRequestKeptSeconds: Int64 = 86_400
    /// The requests with an `Idempotency-Key` remembered for each caller.
    package static let keyedRequestsKept = 1000
    /// The characters of an `Idempotency-Key`.
    package static let requestKeyCharacters = 255
    /// The refusals of one requester recorded one by one in a minute; the others of that minute become one event.
    package static let refusalsRecordedAMinute = 10
    /// The seconds after which a repeated registration of the same push token is another event: apps register at each
    /// start.
    package static let pushTokenRenewalSeconds: Int64 = 60
    /// The bytes of a public key, Ed25519 or X25519.
    package static let publicKeyBytes = 32
    /// The bytes of an Ed25519 signature.
    package static let signatureBytes = 64
    /// The recipient keys of one person that are remembered, also withdrawn ones: the oldest of these is forgotten for a
    /// new key. A key a month for five years.
    package static let recipientKeysPerPerson = 64
    /// The recipient keys of one person that are not withdrawn: one for each client.
    package static let recipientKeysInUse = 8
    /// The keys of others that one person accepts: eight for each member of a large circle.
    package static let pinsPerPerson = 256
    /// The bytes of an envelope.
    package static let envelopeBytes = 4096
    /// The envelopes of one request, each of which needs the check of a signature, 250 µs.
    package static let envelopesPerRequest = 100
    /// The bytes of a device's location push token. Apple does not promise a length.
    package static let pushTokenBytes = 4...100
}
