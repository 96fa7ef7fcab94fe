import Whereabouts

extension Operation {
    /// By method and path of the route.
    static let all: [String: Operation] = Dictionary(
        uniqueKeysWithValues: [asking, stored, recorder, sharing, people, places, reports, others, operating].flatMap {
            Array($0)
        }.map {
            ($0.key, $0.value)
        })

    /// Reading what is stored: every answer is on record before it leaves.
    private static func read(
        _ summary: String, _ answer: JSONTree, _ query: [Parameter] = [], types: [String] = [], hasNames: Bool = false
    ) -> Operation {
        Operation(
            group: .stored, summary: summary, query: query + [.atLeast], answer: answer, answerTypes: types,
            hasNames: hasNames)
    }

    /// The same of what has places.
    private static func readPlaces(
        _ summary: String, _ answer: JSONTree, _ query: [Parameter] = [], hasNames: Bool = true
    ) -> Operation {
        var operation = read(summary, answer, query, hasNames: hasNames)
        operation.hasPlaces = true
        return operation
    }

    static func change(
        _ group: Group, _ summary: String, _ body: JSONTree? = nil, makes answer: JSONTree
    ) -> Operation {
        Operation(group: group, summary: summary, body: body, status: 201, answer: answer)
    }

    /// - Parameter count: how many there can be, all of them in one page; `nil` for what comes in pages.
    static func settings(_ group: Group, _ summary: String, _ item: JSONTree, atMost count: Int? = nil) -> Operation {
        let paging: [Parameter] =
            count == nil
            ? [
                .limit(RowPage.mostRows),
                .after,
            ] : []
        return Operation(
            group: group, summary: summary, query: paging + [.atLeast], answer: Schema.page(item, atMost: count))
    }

    // MARK: Where is X?

    private static let status = Schema.word("pending", "answered", "answeredFromLastKnown", "noAnswer")

    private static let asking: KeyValuePairs<String, Operation> = [
        "POST /v1/people/*/location-queries": Operation(
            group: .asking, summary: "Ask where a person is; the phone is woken when no young fix is there.",
            body: Schema.body(
                ["purpose": Schema.text(1...Limits.purposeCharacters)],
                optional: [
                    "initiation": Schema.word("user", "server"),
                    "deadlineSeconds": Schema.integer(1...Limits.longestQueryDeadlineSeconds),
                    "maxAgeSeconds": Schema.integer(0...Limits.longestQueryDeadlineSeconds),
                ]), status: 202,
            answer: Schema.object(["id": Schema.uuid, "status": status, "url": Schema.text])),
        "GET /v1/location-queries/*": Operation(
            group: .asking, summary: "See what became of a question; a place shown is a disclosure on record.",
            query: [
                Parameter(
                    name: "wait", schema: Schema.integer(0...30),
                    description: "Seconds to wait for the end of the question.")
            ],
            answer: Schema.object(
                ["id": Schema.uuid, "status": status], optional: ["location": Schema.location, "asOf": Schema.asOf]),
            hasPlaces: true, hasNames: true),
        "DELETE /v1/location-queries/*": Operation(
            group: .asking, summary: "Take a question back.",
            answer: Schema.object(["id": Schema.uuid, "status": status], optional: ["asOf": Schema.asOf])),
    ]

    // MARK: What is stored

    private static let range: [Parameter] = [.from, .to, .day, .timeZone]
    private static let rows: [Parameter] = range + [.limit(ReadEndpoints.rowsPerPage), .after]
    private static let fixes: [Parameter] = range + [.limit(ReadEndpoints.fixesPerPage), .after]
    private static let newest: [Parameter] = [
        .limit(ReadEndpoints.auditRowsPerPage),
        .after,
    ]
    private static let named = Schema.place([:], optional: ["place": Schema.text])

    private static let mode = Schema.word("walk", "run", "cycle", "drive", "train", "flight", "ferry")

    private static let stored: KeyValuePairs<String, Operation> = [
        "GET /v1/people/*/location": readPlaces(
            "Where a person was seen last.",
            Schema.object(["location": Schema.orNull(Schema.location)], optional: ["asOf": Schema.asOf])),
        "GET /v1/people/*/track": readPlaces(
            "The fixes of a person, in their order of time.",
            Schema.page(
                Schema.place(
                    ["timestamp": Schema.time, "device": Schema.handle, "number": Schema.event],
                    optional: ["anomaly": Schema.word("invalid", "noFix", "inTheFuture", "vague", "spike")],
                    and: [Schema.ref("FixDetails")])),
            fixes + [
                Parameter(
                    name: "distanceFilter", schema: Schema.integer(0...ReadEndpoints.mostFilterMeters),
                    description: "Only fixes without an anomaly, each so many meters from the one before.")
            ], hasNames: false),
        "GET /v1/people/*/visits": readPlaces("Where a person stayed.", Schema.page(Schema.visit), rows),
        "GET /v1/people/*/visits/*": readPlaces(
            "A visit with the fixes that decided it.",
            Schema.object(
                ["visit": Schema.orNull(Schema.visit), "asOf": Schema.asOf],
                optional: [
                    "successor": Schema.visitID, "rules": Schema.count, "before": Schema.list(Schema.decidingFix),
                    "during": Schema.list(Schema.decidingFix), "after": Schema.list(Schema.decidingFix),
                ])),
        "GET /v1/people/*/crossings": read(
            "When a person entered and left regions.",
            Schema.page(
                Schema.object(
                    [
                        "region": Schema.text, "type": Schema.word("enter", "exit"), "time": Schema.time,
                        "reported": Schema.time,
                    ], optional: ["dwellSeconds": Schema.length])), rows),
        "GET /v1/people/*/trips": readPlaces(
            "The ways between visits, and the times without data.",
            Schema.page(
                Schema.object(
                    [
                        "type": Schema.word("trip", "gap"), "start": Schema.time, "end": Schema.time,
                        "durationSeconds": Schema.length,
                    ],
                    optional: [
                        "from": named, "to": named, "timeZone": Schema.timeZone, "distanceMeters": Schema.length,
                        "mode": mode,
                        "confidence": ["type": "number", "minimum": 0, "maximum": 1], "fixes": Schema.count,
                    ])), range + [.after]),
        "GET /v1/people/*/places": readPlaces(
            "The spots a person has visited, most time first.",
            Schema.page(
                Schema.place(
                    [
                        "id": Schema.visitID, "horizontalAccuracy": Schema.length, "visits": Schema.count,
                        "totalSeconds": Schema.length, "firstArrival": Schema.time, "lastArrival": Schema.time,
                        "lastDeparture": Schema.orNull(Schema.time),
                    ],
                    optional: ["place": Schema.text, "timeZone": Schema.timeZone, "usualHours": Schema.text])), range),
        "GET /v1/people/*/summary": read(
            "Days, weeks or months by the clocks where a person was.",
            Schema.page(
                Schema.object([
                    "period": Schema.text, "from": Schema.time, "to": Schema.time, "seconds": Schema.length,
                    "staySeconds": Schema.length, "moveSeconds": Schema.length, "unknownSeconds": Schema.length,
                    "distanceMeters": Schema.length, "visits": Schema.count,
                    "places": Schema.list(
                        Schema.object(
                            ["id": Schema.visitID, "visits": Schema.count, "seconds": Schema.length],
                            optional: ["place": Schema.text])),
                    "modes": Schema.list(
                        Schema.object([
                            "mode": mode, "trips": Schema.count, "seconds": Schema.length,
                            "distanceMeters": Schema.length,
                        ])),
                ])),
            [
                Parameter(
                    name: "from", schema: Schema.timeGiven, description: "When the first begins; needed without a day."),
                .to, .day, .timeZone,
                Parameter(
                    name: "period", schema: Schema.word("day", "week", "month"), description: "What is summed up."),
                Parameter(
                    name: "dayStartMinutes", schema: Schema.integer(0...1439),
                    description: "How long after midnight days begin."),
            ], hasNames: true),
        "GET /v1/people/*/audit": read(
            "Who asked for a person and the outcome, who read what, who changed whose rights, and the operator's acts that concern everybody; newest first.",
            Schema.page(
                Schema.object(
                    ["kind": Schema.word("query", "read", "change", "act"), "at": Schema.time],
                    optional: ["number": Schema.event])), range + newest, types: ["text/csv"]),
        "GET /v1/people/*/asked": read(
            "What a person has asked about others, as they were told it; newest first.",
            Schema.page(
                Schema.object([
                    "kind": Schema.word("query", "read", "refusals"), "number": Schema.event, "at": Schema.time,
                    "status": Schema.text,
                ])), newest),
        "GET /v1/people/*/findings": read(
            "Habits of those who ask for a person that the person should know.",
            Schema.page(
                Schema.object(
                    [
                        "pattern": Schema.word("polling", "clockwork", "nights", "coarse", "refused"),
                        "requester": Schema.orNull(Schema.text), "from": Schema.time, "to": Schema.time,
                        "count": Schema.count, "number": Schema.event,
                    ], optional: ["timeZone": Schema.timeZone]))),
        "GET /v1/people/*/regions": readPlaces(
            "The regions of a person.", Schema.page(Schema.region, atMost: Limits.regionsPerPerson), hasNames: false),
        "GET /v1/live": Operation(
            group: .stored, summary: "What happens about oneself, as server-sent events.",
            answerTypes: ["text/event-stream"], hasNames: true),
    ]

    // MARK: Where is what?

    private static let foundPlacemark: JSONTree = [
        "allOf": [
            Schema.placemark,
            Schema.object(
                ["match": Schema.word("exact", "prefix", "misspelled", "nameOnly", "partial")],
                optional: ["population": Schema.count]),
        ]
    ]

    private static let places: KeyValuePairs<String, Operation> = [
        "GET /v1/geocode/reverse": Operation(
            group: .places, summary: "What is at a coordinate.",
            query: [
                Parameter(name: "latitude", schema: Schema.latitude, isRequired: true, description: "Degrees."),
                Parameter(name: "longitude", schema: Schema.longitude, isRequired: true, description: "Degrees."),
                Parameter(
                    name: "horizontalAccuracy", schema: Schema.length,
                    description: """
                        Meters: other countries and time zones that are so near are named too, and a street only if it is
                        near enough wherever in the circle one is.
                        """),
            ], answer: Schema.placemark, hasNames: true),
        "POST /v1/geocode/reverse": Operation(
            group: .places, summary: "What is at many coordinates, in the order asked.",
            body: Schema.body([
                "coordinates": Schema.list(
                    [
                        "type": "array", "prefixItems": [Schema.latitude, Schema.longitude], "minItems": 2,
                        "maxItems": 2,
                    ], 0...GeocodeEndpoints.coordinatesMax)
            ]), answer: Schema.object(["items": Schema.list(Schema.placemark)]), hasNames: true),
        "GET /v1/geocode/forward": Operation(
            group: .places, summary: "The places and addresses of a name, the likeliest first.",
            query: [
                Parameter(
                    name: "q", schema: Schema.text(1...Limits.searchCharacters).with(["pattern": #"^[^\u0000]*$"#]),
                    isRequired: true,
                    description: "The name."),
                .limit(GeocodeEndpoints.placesMax),
            ], answer: Schema.object(["items": Schema.list(foundPlacemark)]), hasNames: true),
        "POST /v1/geocode/forward": Operation(
            group: .places, summary: "The likeliest place of each of many names, in the order asked.",
            body: Schema.body([
                "texts": Schema.list(Schema.text(0...Limits.searchCharacters), 0...GeocodeEndpoints.textsMax)
            ]),
            answer: Schema.object(["items": Schema.list(Schema.orNull(foundPlacemark))]), hasNames: true),
    ]

    // MARK: Reports of devices

    static let anything: JSONTree = ["type": "object"]

    private static let osmAndWords = [
        "id": "The device's reporting key.", "speed": "Knots.",
        "speed_mps": "Meters per second, for clients whose templates have no knots.",
    ]

    private static let reports: KeyValuePairs<String, Operation> = [
        "POST /v1/fixes": Operation(
            group: .reports, summary: "Report one fix or many.", access: .reportingKey,
            body: [
                "anyOf": [
                    Schema.fix, Schema.object(["fixes": Schema.list(Schema.fix, 0...Limits.batchCommands)]),
                ]
            ], answer: Schema.reportOutcome),
        "POST /v1/reports": Operation(
            group: .reports, summary: "Report what a device says beside fixes.", access: .reportingKey,
            body: Schema.object([
                "reports": Schema.list(
                    Schema.object([
                        "type": Schema.word("authorization", "heading", "beacon", "visit", "crossing"),
                        "timestamp": Schema.timeGiven,
                    ]), 0...Limits.batchCommands)
            ]), answer: Schema.reportOutcome),
        "POST /owntracks": Operation(
            group: .reports, summary: "OwnTracks in its HTTP mode.", access: .ownTracks, body: anything,
            answer: Schema.list(anything)),
        "POST /pub": Operation(
            group: .reports, summary: "OwnTracks in its HTTP mode, at the Recorder's address.", access: .ownTracks,
            body: anything, answer: Schema.list(anything)),
        "POST /overland": Operation(
            group: .reports, summary: "Overland.", access: .reportingKey, body: anything,
            answer: Schema.object(["result": Schema.text])),
        "GET /osmand": Operation(
            group: .reports, summary: "OsmAnd and Traccar's client, in parameters.", access: .message,
            query: ["id", "lat", "lon", "timestamp", "accuracy", "altitude", "speed", "speed_mps", "bearing", "batt"]
                .map {
                    name in
                    Parameter(
                        name: name, schema: Schema.text, isRequired: name == "id",
                        description: osmAndWords[name] ?? "As the client sends it.")
                }),
        "POST /osmand": Operation(
            group: .reports, summary: "OsmAnd and Traccar's client, as a form, as JSON or as the array of its SDK.",
            access: .message,
            body: anything, bodyTypes: ["application/json", "application/x-www-form-urlencoded"]),
        "POST /v1/imports/*/batches": Operation(
            group: .reports, summary: "Bring in fixes of a device; the same again is no event again.",
            body: Schema.object([
                "device": Schema.handle,
                "fixes": Schema.list([:]).with([
                    "description": "As POST /v1/fixes takes them; what cannot be a fix is kept as rejected, and told."
                ]),
            ]), answer: Schema.reportOutcome),
        "PUT /v1/devices/*/location-push-token": Operation(
            group: .reports, summary: "Say by which token a device is woken.", access: .reportingKey,
            body: Schema.body([
                "hex": Schema.pattern(
                    "^([0-9a-fA-F]{2}){\(Limits.pushTokenBytes.lowerBound),\(Limits.pushTokenBytes.upperBound)}$"),
                "environment": Schema.word("production", "development"), "bundleID": Schema.pattern("^[!-~]{1,155}$"),
            ]), answer: Schema.changed),
    ]

    // MARK: Operation

    private static let operating: KeyValuePairs<String, Operation> = [
        "POST /v1/devices/*/push-tests": Operation(
            group: .operation, summary: "Wake a device once, to try out the way to it.",
            answer: Schema.object(
                ["apnsID": Schema.uuid, "attempts": Schema.list(Schema.pushAttempt)],
                optional: [
                    "outcome": Schema.pushOutcome, "status": Schema.count, "reason": Schema.text,
                    "apnsUniqueID": Schema.text,
                ])),
        "GET /v1/devices/*/push-request": Operation(
            group: .operation, summary: "The same push as a request for another tool.",
            answer: Schema.object(
                [
                    "url": Schema.text, "headers": ["type": "object", "additionalProperties": Schema.text],
                    "body": Schema.text, "bundleID": Schema.text, "environment": Schema.text,
                ], optional: ["caFile": Schema.text])),
        "GET /v1/events": Operation(
            group: .operation, summary: "The events of the log in their order.",
            query: [
                Parameter(name: "after", schema: Schema.count, description: "The number before the first one."),
                .limit(1000),
                Parameter(
                    name: "wait", schema: Schema.integer(0...30), description: "Seconds to wait for the next one."),
                Parameter(
                    name: "kind", schema: ["type": "string", "enum": .list(EventKind.allCases.map { .text($0.name) })],
                    description: "Only events of this kind."),
                Parameter(name: "person", schema: Schema.handle, description: "Only events of this person."),
                Parameter(
                    name: "asStored", schema: Schema.boolean, description: "As they lie in the log, parts sealed."),
            ],
            answer: Schema.page(
                Schema.object(
                    [
                        "number": Schema.eventNumber, "kind": Schema.text, "stream": ["type": "integer"],
                        "version": Schema.event, "recordedAt": Schema.time, "actor": ["type": "integer"],
                        "correlation": Schema.text, "cause": Schema.count,
                        "leaf": Schema.pattern("^[0-9a-f]{64}$"),
                    ], optional: ["content": anything, "body": Schema.pattern("^([0-9a-f]{2})*$")]))),
        "GET /v1/verify": Operation(
            group: .operation, summary: "Recompute the log's root and every projection, and compare.",
            answer: Schema.object([
                "log": Schema.object(
                    ["events": Schema.count, "root": Schema.text, "ok": Schema.boolean],
                    optional: ["number": Schema.event, "problem": Schema.text]),
                "keys": Schema.object(["erased": Schema.count, "lost": Schema.count]),
                "fixes": Schema.object(
                    ["events": Schema.count, "fixes": Schema.count, "ok": Schema.boolean],
                    optional: ["problem": Schema.text]),
                "projections": Schema.list(
                    Schema.object([
                        "name": Schema.text, "version": Schema.count, "generation": Schema.count,
                        "place": Schema.count, "fingerprint": Schema.text, "rows": Schema.text,
                        "refold": Schema.text,
                    ])),
                "ok": Schema.boolean,
            ])),
        "GET /v1/projections": Operation(
            group: .operation, summary: "The projections, and how far they are folded.",
            answer: Schema.page(
                Schema.object([
                    "name": Schema.text, "version": Schema.count, "generation": Schema.count, "role": Schema.text,
                    "place": Schema.count, "head": Schema.count, "state": Schema.word("loading", "ready"),
                    "fingerprint": Schema.text,
                ]))),
        "POST /v1/backups": Operation(
            group: .operation, summary: "Copy the log and its keys, and recompute the copy.", status: 201,
            answer: Schema.object([
                "format": Schema.count, "log": Schema.uuid, "epoch": Schema.count, "events": Schema.count,
                "root": Schema.pattern("^[0-9a-f]{64}$"), "madeAt": Schema.time,
            ])),
        "POST /v1/projections/prune": Operation(
            group: .operation, summary: "Remove generations that are neither active nor the one before.",
            body: Schema.body(optional: ["name": Schema.text]), isBodyOptional: true,
            answer: Schema.object(["items": Schema.list(Schema.generation)])),
        "POST /v1/projections/*/rebuild": Operation(
            group: .operation, summary: "Fold a new generation from the whole log.",
            body: Schema.body(optional: ["version": Schema.count]), isBodyOptional: true, answer: Schema.generation),
        "POST /v1/projections/*/activate": Operation(
            group: .operation, summary: "Answer from the newest generation.", answer: Schema.generation),
        "POST /v1/projections/*/rollback": Operation(
            group: .operation, summary: "Answer from the generation before.", answer: Schema.generation),
        "GET /v1/projections/*/diff": Operation(
            group: .operation, summary: "What the newest generation tells otherwise than the active one.",
            answer: Schema.object([
                "equal": Schema.boolean, "added": Schema.count, "removed": Schema.count, "changed": Schema.count,
                "asOf": Schema.asOf, "active": Schema.generation, "other": Schema.generation,
                "rows": Schema.list(
                    Schema.object(
                        [
                            "table": Schema.text, "key": Schema.text,
                            "change": Schema.word("added", "removed", "changed"),
                        ], optional: ["old": Schema.text, "new": Schema.text])),
            ])),
        "GET /metrics": Operation(
            group: .operation, summary: "Counts, times and queues since the start, for Prometheus.",
            answerTypes: ["text/plain"]),
        "GET /healthz": Operation(
            group: .operation, summary: "Whether the process answers.", access: .anybody,
            answer: Schema.object(["status": Schema.text])),
        "GET /readyz": Operation(
            group: .operation, summary: "Whether log and projections are there.", access: .anybody,
            answer: Schema.object(["status": Schema.text])),
        "GET /openapi.json": Operation(
            group: .operation, summary: "This description.", access: .anybody, answer: anything),
    ]
}
