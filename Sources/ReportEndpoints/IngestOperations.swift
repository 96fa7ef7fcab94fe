import HTTPInterface
import Replies
import Whereabouts

extension IngestEndpoints {
    /// Reports of devices, in this service's forms and in those of other apps, and imports.
    package var operations: [Operation] {
        [
            Operation(
                "POST", APIPath.fixes.text, .report(fixes),
                group: .reports, summary: "Report one or more fixes.",
                description:
                    "Needs the device's reporting key as the bearer token. A repeated fix counts as a duplicate and makes no event. A fix that cannot be used is kept as rejected, with its reason.",
                access: .reportingKey, discloses: .command,
                body: Operation.Body(Schema.ref("FixReport"), example: Self.exampleFixes),
                answer: Operation.Answer(Schema.reportOutcome)),
            Operation(
                "POST", APIPath.reports.text, .report(reports),
                group: .reports, summary: "Report authorization, headings, beacons, visits or crossings.",
                description:
                    "Needs the device's reporting key as the bearer token. A report that cannot be read is kept as rejected and does not affect the others.",
                access: .reportingKey, discloses: .command,
                body: Operation.Body(
                    Schema.object([
                        "reports": Schema.list(
                            Schema.object([
                                "type": Schema.word("authorization", "heading", "beacon", "visit", "crossing"),
                                "timestamp": Schema.timeGiven,
                            ]), 0...Limits.batchCommands)
                    ]), named: "DeviceReports",
                    example: [
                        "reports": [
                            [
                                "type": "authorization", "timestamp": 1_777_881_600, "status": "authorizedAlways",
                                "accuracy": "full",
                            ]
                        ]
                    ]),
                answer: Operation.Answer(Schema.reportOutcome)),
            // The app repeats a refused body without end, so an empty one is accepted.
            Operation(
                "POST", "/owntracks", .report(ownTracks),
                group: .reports, summary: "Report with OwnTracks in HTTP mode.",
                description:
                    "User name and password are the device's handle and reporting key. The answer has the friends whose locations have changed, and commands to the app.",
                access: .ownTracks, discloses: .recorded(.friends),
                body: Operation.Body(Self.anything, example: Self.exampleOfOwnTracks, isOptional: true),
                answer: Operation.Answer(Schema.list(Self.anything)), receivedBytes: Limits.droppedBodyBytes),
            Operation(
                "POST", "/pub", .report(ownTracks),
                group: .reports, summary: "Report with OwnTracks at the Recorder's address.",
                description: "As `POST /owntracks`.", access: .ownTracks, discloses: .recorded(.friends),
                body: Operation.Body(Self.anything, example: Self.exampleOfOwnTracks, isOptional: true),
                answer: Operation.Answer(Schema.list(Self.anything)), receivedBytes: Limits.droppedBodyBytes),
            Operation(
                "POST", "/overland", .report(overland),
                group: .reports, summary: "Report by Overland.",
                description: "Needs the device's reporting key as the bearer token, or in Overland's OwnTracks mode.",
                access: .reportingKey, discloses: .command,
                body: Operation.Body(
                    Self.anything,
                    example: [
                        "locations": [
                            [
                                "type": "Feature", "geometry": ["type": "Point", "coordinates": [16.3778, 48.1737]],
                                "properties": ["timestamp": "2026-05-04T08:00:00Z", "horizontal_accuracy": 12],
                            ]
                        ]
                    ]),
                answer: Operation.Answer(Schema.object(["result": Schema.text]), named: "OverlandAnswer")),
            Operation(
                "GET", "/osmand", .report(osmAnd),
                group: .reports, summary: "Report with the parameters of OsmAnd and Traccar Client.",
                description:
                    "`id` is the device's reporting key. `speed` is in knots, or in meters per second for OsmAnd's own template.",
                access: .message(Self.osmAndCredentials), discloses: .command,
                query: [
                    "id", "lat", "lon", "timestamp", "accuracy", "altitude", "speed", "speed_mps", "bearing", "batt",
                ]
                .map {
                    name in
                    Operation.Parameter(
                        name: name, schema: Schema.parameterText, isRequired: name == "id",
                        description: Self.osmAndWords[name] ?? "The client's value.")
                }),
            // Traccar Client sends everything in the query of the URL.
            Operation(
                "POST", "/osmand", .report(osmAnd),
                group: .reports, summary: "Report with the bodies of OsmAnd and Traccar Client.",
                description:
                    "`id` or `device_id` is the device's reporting key. Takes a form, Traccar Client's JSON, or the array of its SDK.",
                access: .message(Self.osmAndCredentials), discloses: .command,
                body: Operation.Body(
                    Self.anything, isOptional: true, types: ["application/json", "application/x-www-form-urlencoded"])),
            Operation(
                "GET", "/index.php/apps/phonetrack/logGet/*/*", .report(phoneTrack),
                group: .reports, summary: "Report with PhoneTrack's parameters.",
                description: "The key in the path is the device's reporting key.",
                access: .message(Self.phoneTrackCredentials), discloses: .command,
                query: ["lat", "lon", "timestamp", "alt", "acc", "bat", "sat", "speed", "bearing", "useragent"].map {
                    name in
                    Operation.Parameter(
                        name: name, schema: Schema.parameterText, description: "As the client sends it.")
                },
                answer: Operation.Answer(Self.anything)),
            Operation(
                "POST", "/index.php/apps/phonetrack/logPost/*/*", .report(phoneTrack),
                group: .reports, summary: "Report with PhoneTrack's form.",
                description: "The key in the path is the device's reporting key.",
                access: .message(Self.phoneTrackCredentials), discloses: .command,
                body: Operation.Body(Self.anything, isOptional: true, types: [Self.formType]),
                answer: Operation.Answer(Self.anything)),
            Operation(
                "POST", "/index.php/apps/phonetrack/logPostMultiple/*/*", .report(phoneTrackPoints),
                group: .reports, summary: "Report with PhoneTrack's batch.",
                description: "The key in the path is the device's reporting key.",
                access: .message(Self.phoneTrackCredentials), discloses: .command,
                body: Operation.Body(Self.anything),
                answer: Operation.Answer(Self.anything)),
            Operation(
                "POST", "/ulogger/client/index.php", .report(uLogger),
                group: .reports, summary: "Report with µlogger's actions.",
                description:
                    "The actions `auth`, `addtrack` and `addpos`. User and password are the device's handle and reporting key.",
                access: .message(Self.uLoggerCredentials), discloses: .command,
                body: Operation.Body(Self.anything, types: [Self.formType, "multipart/form-data"]),
                answer: Operation.Answer(Self.anything), receivedBytes: Limits.droppedBodyBytes),
            Operation(
                "POST", "/api/webhook/*", .report(webhook),
                group: .reports, summary: "Report to Home Assistant's webhook.",
                description:
                    "The key in the path is the device's reporting key. Its location has no time, so it is taken as now.",
                access: .message(Self.webhookCredentials), discloses: .command,
                body: Operation.Body(Self.anything, types: ["application/json", Self.formType]),
                answer: Operation.Answer(Self.anything)),
            Operation(
                "POST", APIPath.importsBatches.text, .report(importBatch),
                group: .reports, summary: "Import fixes of one or more devices.",
                description:
                    "Only for the operator. The id of an import is a UUID that the client chooses. Fixes that are in the log already count as duplicates, so a batch can be sent again. Give `device` and `fixes`, or `devices`: those share commits, a person or device that does not exist is added with its fixes, and visits of another system become reported visits.",
                access: .operator, discloses: .command,
                body: Operation.Body(
                    ["anyOf": [Schema.ref("DeviceBatch"), Schema.ref("DevicesBatch")]], named: "ImportBatch",
                    example: ["device": "anna-phone", "fixes": [Self.exampleFix]]),
                answer: Operation.Answer(Schema.importOutcome)),
            Operation(
                "PUT", APIPath.devicesLocationPushToken.text, .answer(registerPushToken),
                group: .reports, summary: "Register a device's location push token.",
                description: "Needs the device's reporting key as the bearer token. The token replaces the one before.",
                access: .reportingKey, discloses: .command,
                body: Operation.Body(
                    Schema.body([
                        "hex": Schema.pattern(
                            "^([0-9a-fA-F]{2}){\(Limits.pushTokenBytes.lowerBound),\(Limits.pushTokenBytes.upperBound)}$"
                        ),
                        "environment": Schema.word("production", "development"),
                        "bundleID": Schema.pattern("^[!-~]{1,155}$"),
                    ]), named: "LocationPushToken",
                    example: [
                        "hex": .text(String(repeating: "5f", count: 32)), "environment": "production",
                        "bundleID": "org.example.app",
                    ]),
                answer: Operation.Answer(Schema.changed)),
        ]
    }

    // MARK: Parts

    private static let formType = "application/x-www-form-urlencoded"
    /// An object whose members another project defines.
    private static let anything = Schema.anyObject

    /// Descriptions of some of OsmAnd's parameters, by name.
    private static let osmAndWords = [
        "id": "The device's reporting key.", "speed": "Knots.",
        "speed_mps": "Meters per second, for clients that have no template in knots.",
    ]

    /// A fix of `POST /v1/fixes`.
    private static let exampleFix: JSONTree = [
        "timestamp": "2026-05-04T08:00:00Z", "latitude": 48.1737, "longitude": 16.3778, "horizontalAccuracy": 12,
    ]
    private static let exampleFixes: JSONTree = ["fixes": [exampleFix]]
    /// An OwnTracks `location` message.
    private static let exampleOfOwnTracks: JSONTree = [
        "_type": "location", "lat": 48.1737, "lon": 16.3778, "tst": 1_777_881_600, "acc": 12,
    ]
}
