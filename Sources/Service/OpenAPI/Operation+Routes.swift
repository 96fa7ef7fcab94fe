import Whereabouts

extension Operation {
    /// The operations by method and path of the route.
    static let all: [String: Operation] = Dictionary(
        uniqueKeysWithValues: [asking, stored, recorder, sharing, people, places, reports, others, operating, page]
            .flatMap {
                Array($0)
            }.map {
                ($0.key, $0.value)
            })

    /// A read of stored data: every answer is recorded before it leaves.
    private static func read(
        _ summary: String, _ answer: JSONTree, _ query: [Parameter] = [], types: [String] = [], hasNames: Bool = false
    ) -> Operation {
        Operation(
            group: .stored, summary: summary, query: query + [.atLeast], answer: answer, answerTypes: types,
            hasNames: hasNames)
    }

    /// A read of stored data with places.
    private static func readPlaces(
        _ summary: String, _ answer: JSONTree, _ query: [Parameter] = [], types: [String] = [], hasNames: Bool = true
    ) -> Operation {
        var operation = read(summary, answer, query, types: types, hasNames: hasNames)
        operation.hasPlaces = true
        return operation
    }

    /// A request that makes something: the answer is 201.
    static func change(
        _ group: Group, _ summary: String, _ body: JSONTree? = nil, makes answer: JSONTree
    ) -> Operation {
        Operation(group: group, summary: summary, body: body, status: 201, answer: answer)
    }

    /// A list of a person's settings.
    ///
    /// - Parameter count: The most items, if all are in one page; `nil` for a list with pages.
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

    // MARK: Location queries

    /// Queries by a requester.
    private static let asking: KeyValuePairs<String, Operation> = [
        "POST /v1/people/*/location-queries": Operation(
            group: .asking, summary: "Ask where a person is.",
            body: Schema.body(
                ["purpose": Schema.text(1...Limits.purposeCharacters)],
                optional: [
                    "initiation": Schema.word("user", "server"),
                    "deadlineSeconds": Schema.integer(1...Limits.longestQueryDeadlineSeconds),
                    "maxAgeSeconds": Schema.integer(0...Limits.longestQueryDeadlineSeconds),
                ]), status: 202,
            answer: Schema.object(["id": Schema.uuid, "status": Schema.queryStatus, "url": Schema.text])),
        "GET /v1/location-queries/*": Operation(
            group: .asking, summary: "Read the status and the answer of a location query.",
            query: [
                Parameter(
                    name: "wait", schema: Schema.integer(0...30),
                    description: "The seconds to wait for the end of the query.")
            ],
            answer: Schema.object(
                ["id": Schema.uuid, "status": Schema.queryStatus],
                optional: ["location": Schema.location, "asOf": Schema.asOf]),
            hasPlaces: true, hasNames: true),
        "DELETE /v1/location-queries/*": Operation(
            group: .asking, summary: "Cancel a location query.",
            answer: Schema.object(["id": Schema.uuid, "status": Schema.queryStatus], optional: ["asOf": Schema.asOf])),
    ]

    // MARK: Stored data

    /// The parameters that choose a time range.
    private static let range: [Parameter] = [.from, .to, .day, .timeZone]
    /// The parameters of a list of derived rows, such as visits.
    private static let rows: [Parameter] = range + [.limit(ReadEndpoints.rowsPerPage), .after]
    /// The parameters of a list of fixes, whose pages are longer.
    private static let fixes: [Parameter] = range + [.limit(ReadEndpoints.fixesPerPage), .after]
    /// The parameters of a list that is newest first and has no time range.
    private static let newest: [Parameter] = [
        .limit(ReadEndpoints.auditRowsPerPage),
        .after,
    ]
    /// Recorded reads of stored data, and the person's own feed.
    private static let stored: KeyValuePairs<String, Operation> = [
        "GET /v1/people/*/location": readPlaces(
            "Read a person's newest location.",
            Schema.object(["location": Schema.orNull(Schema.location)], optional: ["asOf": Schema.asOf])),
        "GET /v1/people/*/track": readPlaces(
            "List a person's fixes.",
            Schema.page(
                Schema.placedFix(
                    ["timestamp": Schema.time, "device": Schema.handle, "number": Schema.event],
                    optional: ["anomaly": Schema.word("invalid", "noFix", "inTheFuture", "vague", "spike")])),
            fixes + [
                Parameter(
                    name: "distanceFilter", schema: Schema.integer(0...ReadEndpoints.mostFilterMeters),
                    description: "Only fixes without an anomaly, each at least this many meters from the one before."),
                Parameter(
                    name: "form", schema: Schema.word("points"),
                    description: "The whole range as points for a map, in bytes that HTTP.md specifies."),
                Parameter(
                    name: "zoom", schema: Schema.integer(0...22),
                    description: "The map's zoom, by which `points` are thinned."),
            ], types: [TrackPoints.mediaType], hasNames: false),
        "GET /v1/people/*/visits": readPlaces("List a person's visits.", Schema.page(Schema.visit), rows),
        "GET /v1/people/*/visits/*": readPlaces(
            "Explain a visit by its fixes.",
            Schema.object(
                ["visit": Schema.orNull(Schema.visit), "asOf": Schema.asOf],
                optional: [
                    "successor": Schema.visitID, "rules": Schema.count, "before": Schema.list(Schema.decidingFix),
                    "during": Schema.list(Schema.decidingFix), "after": Schema.list(Schema.decidingFix),
                ])),
        "GET /v1/people/*/crossings": read(
            "List a person's crossings of regions.",
            Schema.page(
                Schema.object(
                    [
                        "region": Schema.text, "type": Schema.word("enter", "exit"), "time": Schema.time,
                        "reported": Schema.time,
                    ], optional: ["dwellSeconds": Schema.length])), rows),
        "GET /v1/people/*/trips": readPlaces(
            "List a person's trips and gaps.",
            Schema.page(
                Schema.object(
                    [
                        "type": Schema.word("trip", "gap"), "start": Schema.time, "end": Schema.time,
                        "durationSeconds": Schema.length,
                    ],
                    optional: [
                        "from": Schema.ref("TripEnd"), "to": Schema.ref("TripEnd"), "timeZone": Schema.timeZone,
                        "distanceMeters": Schema.length,
                        "mode": Schema.travelMode,
                        "confidence": ["type": "number", "minimum": 0, "maximum": 1], "fixes": Schema.count,
                    ])), range + [.after]),
        "GET /v1/people/*/places": readPlaces(
            "List the places a person visited.",
            Schema.page(
                Schema.place(
                    [
                        "id": Schema.visitID, "horizontalAccuracy": Schema.length, "visits": Schema.count,
                        "totalSeconds": Schema.length, "firstArrival": Schema.time, "lastArrival": Schema.time,
                        "lastDeparture": Schema.orNull(Schema.time),
                    ],
                    optional: ["place": Schema.text, "timeZone": Schema.timeZone, "usualHours": Schema.text])), range),
        "GET /v1/people/*/summary": read(
            "Sum up a person's days, weeks or months.",
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
                            "mode": Schema.travelMode, "trips": Schema.count, "seconds": Schema.length,
                            "distanceMeters": Schema.length,
                        ])),
                ])),
            [
                Parameter(
                    name: "from", schema: Schema.timeGiven,
                    description: "The beginning of the first period; required without `day`."),
                .to, .day, .timeZone,
                Parameter(
                    name: "period", schema: Schema.word("day", "week", "month"), description: "The length of a period."),
                Parameter(
                    name: "dayStartMinutes", schema: Schema.integer(0...1439),
                    description: "The time after midnight at which a day begins."),
            ], hasNames: true),
        "GET /v1/people/*/audit": read(
            "List who asked for, read or changed a person's data.",
            Schema.page(
                Schema.object(
                    ["kind": Schema.word("query", "read", "change", "act"), "at": Schema.time],
                    optional: ["number": Schema.event])), range + newest, types: ["text/csv"]),
        "GET /v1/people/*/asked": read(
            "List what a person asked about others.",
            Schema.page(
                Schema.object([
                    "kind": Schema.word("query", "read", "refusals"), "number": Schema.event, "at": Schema.time,
                    "status": Schema.text,
                ])), newest),
        "GET /v1/people/*/findings": read(
            "List conspicuous patterns of questions about a person.",
            Schema.page(
                Schema.object(
                    [
                        "pattern": Schema.word("polling", "clockwork", "nights", "coarse", "refused"),
                        "requester": Schema.orNull(Schema.text), "from": Schema.time, "to": Schema.time,
                        "count": Schema.count, "number": Schema.event,
                    ], optional: ["timeZone": Schema.timeZone]))),
        "GET /v1/people/*/regions": readPlaces(
            "List a person's regions.", Schema.page(Schema.region, atMost: Limits.regionsPerPerson), hasNames: false),
        "GET /v1/live": Operation(
            group: .stored, summary: "Follow your own feed as server-sent events.",
            answerTypes: ["text/event-stream"], hasNames: true),
    ]

    // MARK: Geocoding

    private static let foundPlacemark = Schema.ref("FoundPlacemark")

    /// Geocoding, which concerns no person and is not recorded.
    private static let places: KeyValuePairs<String, Operation> = [
        "GET /v1/geocode/reverse": Operation(
            group: .places, summary: "Find the placemark of a coordinate.",
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
            group: .places, summary: "Find the placemarks of many coordinates.",
            body: Schema.body([
                "coordinates": Schema.list(
                    [
                        "type": "array", "prefixItems": [Schema.latitude, Schema.longitude], "minItems": 2,
                        "maxItems": 2,
                    ], 0...GeocodeEndpoints.coordinatesMax)
            ]), answer: Schema.object(["items": Schema.list(Schema.placemark)]), hasNames: true),
        "GET /v1/geocode/forward": Operation(
            group: .places, summary: "Find places by name.",
            query: [
                Parameter(
                    name: "q", schema: Schema.text(1...Limits.searchCharacters).with(["pattern": #"^[^\u0000]*$"#]),
                    isRequired: true,
                    description: "The name."),
                .limit(GeocodeEndpoints.placesMax),
            ], answer: Schema.object(["items": Schema.list(foundPlacemark)]), hasNames: true),
        "POST /v1/geocode/forward": Operation(
            group: .places, summary: "Find the likeliest place of each of many names.",
            body: Schema.body([
                "texts": Schema.list(Schema.text(0...Limits.searchCharacters), 0...GeocodeEndpoints.textsMax)
            ]),
            answer: Schema.object(["items": Schema.list(Schema.orNull(foundPlacemark))]), hasNames: true),
    ]

    // MARK: Reports of devices

    /// An object whose members another project defines.
    static let anything = Schema.anyObject

    /// Descriptions of some of OsmAnd's parameters, by name.
    private static let osmAndWords = [
        "id": "The device's reporting key.", "speed": "Knots.",
        "speed_mps": "Meters per second, for clients that have no template in knots.",
    ]

    /// Reports of devices, in this service's forms and in those of other apps, and imports.
    private static let reports: KeyValuePairs<String, Operation> = [
        "POST /v1/fixes": Operation(
            group: .reports, summary: "Report one or more fixes.", access: .reportingKey,
            body: Schema.ref("FixReport"), answer: Schema.reportOutcome),
        "POST /v1/reports": Operation(
            group: .reports, summary: "Report authorization, headings, beacons, visits or crossings.",
            access: .reportingKey,
            body: Schema.object([
                "reports": Schema.list(
                    Schema.object([
                        "type": Schema.word("authorization", "heading", "beacon", "visit", "crossing"),
                        "timestamp": Schema.timeGiven,
                    ]), 0...Limits.batchCommands)
            ]), answer: Schema.reportOutcome),
        // The app repeats a refused body without end, so an empty one is accepted.
        "POST /owntracks": Operation(
            group: .reports, summary: "Report with OwnTracks in HTTP mode.", access: .ownTracks, body: anything,
            isBodyOptional: true, answer: Schema.list(anything)),
        "POST /pub": Operation(
            group: .reports, summary: "Report with OwnTracks at the Recorder's address.", access: .ownTracks,
            body: anything, isBodyOptional: true, answer: Schema.list(anything)),
        "POST /overland": Operation(
            group: .reports, summary: "Report by Overland.", access: .reportingKey, body: anything,
            answer: Schema.object(["result": Schema.text])),
        "GET /osmand": Operation(
            group: .reports, summary: "Report with the parameters of OsmAnd and Traccar Client.", access: .message,
            query: ["id", "lat", "lon", "timestamp", "accuracy", "altitude", "speed", "speed_mps", "bearing", "batt"]
                .map {
                    name in
                    Parameter(
                        name: name, schema: Schema.parameterText, isRequired: name == "id",
                        description: osmAndWords[name] ?? "The client's value.")
                }),
        "POST /osmand": Operation(
            group: .reports, summary: "Report with the bodies of OsmAnd and Traccar Client.",
            access: .message,
            // Traccar Client sends everything in the query of the URL.
            body: anything, isBodyOptional: true,
            bodyTypes: ["application/json", "application/x-www-form-urlencoded"]),
        "POST /v1/imports/*/batches": Operation(
            group: .reports, summary: "Import fixes of one or more devices.",
            body: ["anyOf": [Schema.ref("DeviceBatch"), Schema.ref("DevicesBatch")]], answer: Schema.importOutcome),
        "PUT /v1/devices/*/location-push-token": Operation(
            group: .reports, summary: "Register a device's location push token.", access: .reportingKey,
            body: Schema.body([
                "hex": Schema.pattern(
                    "^([0-9a-fA-F]{2}){\(Limits.pushTokenBytes.lowerBound),\(Limits.pushTokenBytes.upperBound)}$"),
                "environment": Schema.word("production", "development"), "bundleID": Schema.pattern("^[!-~]{1,155}$"),
            ]), answer: Schema.changed),
    ]

    // MARK: Operation

    /// Push tests, and the operator's requests.
    private static let operating: KeyValuePairs<String, Operation> = [
        "POST /v1/devices/*/push-tests": Operation(
            group: .operation, summary: "Send a test push to a device.",
            answer: Schema.object(
                ["apnsID": Schema.uuid, "attempts": Schema.list(Schema.pushAttempt)],
                optional: [
                    "outcome": Schema.pushOutcome, "status": Schema.count, "reason": Schema.text,
                    "apnsUniqueID": Schema.text,
                ])),
        "GET /v1/devices/*/push-request": Operation(
            group: .operation, summary: "Get the test push as a request for another tool.",
            answer: Schema.object(
                [
                    "url": Schema.text, "headers": ["type": "object", "additionalProperties": Schema.text],
                    "body": Schema.text, "bundleID": Schema.text, "environment": Schema.text,
                ], optional: ["caFile": Schema.text])),
        "GET /v1/events": Operation(
            group: .operation, summary: "List the events of the log.",
            query: [
                Parameter(name: "after", schema: Schema.count, description: "Only events after this number."),
                .limit(1000),
                Parameter(
                    name: "wait", schema: Schema.integer(0...30), description: "The seconds to wait for the next event."
                ),
                Parameter(
                    name: "kind", schema: ["type": "string", "enum": .list(EventKind.allCases.map { .text($0.name) })],
                    description: "Only events of this kind."),
                Parameter(name: "person", schema: Schema.handle, description: "Only events of this person."),
                Parameter(
                    name: "asStored", schema: Schema.boolean,
                    description: "Give events as stored, with their sealed parts."),
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
            group: .operation, summary: "Verify the log and every projection.",
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
            group: .operation, summary: "List the projections.",
            answer: Schema.page(
                Schema.object([
                    "name": Schema.text, "version": Schema.count, "generation": Schema.count, "role": Schema.text,
                    "place": Schema.count, "head": Schema.count, "state": Schema.word("loading", "ready"),
                    "fingerprint": Schema.text,
                ]))),
        "POST /v1/backups": Operation(
            group: .operation, summary: "Make a backup.", status: 201,
            answer: Schema.object([
                "format": Schema.count, "log": Schema.uuid, "epoch": Schema.count, "events": Schema.count,
                "root": Schema.pattern("^[0-9a-f]{64}$"), "madeAt": Schema.time,
            ])),
        "POST /v1/projections/prune": Operation(
            group: .operation, summary: "Delete unused generations of projections.",
            body: Schema.body(optional: ["name": Schema.text]), isBodyOptional: true,
            answer: Schema.object(["items": Schema.list(Schema.generation)])),
        "POST /v1/projections/*/rebuild": Operation(
            group: .operation, summary: "Rebuild a projection.",
            body: Schema.body(optional: ["version": Schema.count]), isBodyOptional: true, answer: Schema.generation),
        "POST /v1/projections/*/activate": Operation(
            group: .operation, summary: "Activate the rebuilt projection.", answer: Schema.generation),
        "POST /v1/projections/*/rollback": Operation(
            group: .operation, summary: "Activate the previous projection again.", answer: Schema.generation),
        "GET /v1/projections/*/diff": Operation(
            group: .operation, summary: "Compare the rebuilt projection with the active one.",
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
            group: .operation, summary: "Read metrics in Prometheus' format.",
            answerTypes: ["text/plain"]),
        "GET /healthz": Operation(
            group: .operation, summary: "Check that the process works.", access: .anybody,
            answer: Schema.object(["status": Schema.text])),
        "GET /readyz": Operation(
            group: .operation, summary: "Check that the service is ready.", access: .anybody,
            answer: Schema.object(["status": Schema.text])),
        "GET /openapi.json": Operation(
            group: .operation, summary: "Read this description.", access: .anybody, answer: anything),
    ]
}
