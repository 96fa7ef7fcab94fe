import Projections
import Replies
import Tables
import Whereabouts

/// JSON Schemas (2020-12) of requests and answers. ``named`` has the schemas with a name, which others refer to.
package enum Schema {
    // MARK: Values

    /// True or false.
    package static let boolean: JSONTree = ["type": "boolean"]
    /// Any number.
    package static let number: JSONTree = ["type": "number"]
    /// Any text.
    package static let text: JSONTree = ["type": "string"]
    /// A text in the URL, which cannot contain NUL.
    package static let parameterText = pattern(#"^[^\u0000]*$"#)
    /// An event, or a thing that an address can name.
    package static let event = ref("Reference")
    /// The place in the log up to which an answer was read.
    package static let asOf = ref("Reference")
    /// The id of a thing: a number for the operator, a reference for everyone else.
    package static let id = ref("Reference")
    /// A number that only the operator sees.
    package static let eventNumber = integer(1...Int64.max)
    /// A reference or a number of the log, as text in a URL.
    package static let reference = pattern("^(r[A-Za-z0-9_-]{22}|[0-9]{1,19})$")
    /// A whole number of at least 0.
    package static let count = integer(0...Int64.max)
    /// Degrees north of the equator.
    package static let latitude: JSONTree = ["type": "number", "minimum": -90, "maximum": 90]
    /// Degrees east of Greenwich; both −180 and 180 are accepted.
    package static let longitude: JSONTree = ["type": "number", "minimum": -180, "maximum": 180]
    /// Meters, seconds or another quantity that cannot be negative.
    package static let length: JSONTree = ["type": "number", "minimum": 0]
    /// A coordinate in a reference system; null outside the system's area.
    private static let planar = orNull(number)
    /// The id of a visit or place: 64 bits as 16 hexadecimal digits.
    package static let visitID = pattern("^[0-9a-f]{16}$", "0c31f9a27b5e64d8")
    /// A UUID in lower case.
    package static let uuid: JSONTree = [
        "type": "string", "format": "uuid", "examples": ["6b1c2d3e-4f50-4a61-8b72-93a4b5c6d7e8"],
    ]
    /// A name of the IANA time zone database.
    package static let timeZone: JSONTree = ["type": "string", "examples": ["Europe/Vienna"]]

    /// A whole number within a range.
    package static func integer(_ range: ClosedRange<Int64>) -> JSONTree {
        ["type": "integer", "minimum": .int(range.lowerBound), "maximum": .int(range.upperBound)]
    }

    /// A text with this many characters, counted as Unicode scalars.
    package static func text(_ length: ClosedRange<Int>) -> JSONTree {
        ["type": "string", "minLength": .int(Int64(length.lowerBound)), "maxLength": .int(Int64(length.upperBound))]
    }

    /// A text that matches a regular expression of ECMA-262.
    package static func pattern(_ pattern: String) -> JSONTree { ["type": "string", "pattern": .text(pattern)] }

    /// A text that matches a regular expression, with an example of one.
    package static func pattern(_ pattern: String, _ example: String) -> JSONTree {
        Self.pattern(pattern).with(["examples": [.text(example)]])
    }

    /// One of these words.
    package static func word(_ words: String...) -> JSONTree { Self.words(words) }

    /// One of these words, as an array.
    package static func words(_ words: [String]) -> JSONTree {
        ["type": "string", "enum": .list(words.map { .text($0) })]
    }

    /// An array, of any length or of one in a range.
    package static func list(_ items: JSONTree, _ count: ClosedRange<Int>? = nil) -> JSONTree {
        let list: JSONTree = ["type": "array", "items": items]
        guard let count else { return list }
        return list.with(["minItems": .int(Int64(count.lowerBound)), "maxItems": .int(Int64(count.upperBound))])
    }

    /// Fixes of a file, any JSON values: one that is no fix does not refuse the batch.
    static let importedFixes = list([:]).with([
        "description":
            "In the form of POST /v1/fixes. An item that is not a fix is kept as rejected and listed in the answer."
    ])

    /// A file that is imported, as a client describes it.
    package static let importedFile = body(
        [:],
        optional: [
            "name": text(1...Limits.fileNameCharacters), "format": text(1...Limits.fileFormatCharacters),
            "bytes": count, "sha256": pattern("^[0-9a-fA-F]{64}$"),
        ])

    /// Visits of another system, any JSON values.
    static let importedVisits = list([:]).with([
        "description": "Visits that another system found, in the form of POST /v1/reports without the type."
    ])

    /// The schema or null.
    package static func orNull(_ schema: JSONTree) -> JSONTree { ["anyOf": [schema, ["type": "null"]]] }

    /// An object in an answer; later versions may add members.
    package static func object(
        _ members: KeyValuePairs<String, JSONTree>, optional: KeyValuePairs<String, JSONTree> = [:]
    ) -> JSONTree {
        object(Array(members), Array(optional))
    }

    /// An object in an answer with a coordinate, in degrees or in the requested reference system.
    package static func place(
        _ members: KeyValuePairs<String, JSONTree>, optional: KeyValuePairs<String, JSONTree> = [:]
    ) -> JSONTree {
        place(Array(members), Array(optional))
    }

    /// As ``place(_:optional:)``, with the members of a reported fix.
    package static func placedFix(
        _ members: KeyValuePairs<String, JSONTree>, optional: KeyValuePairs<String, JSONTree> = [:]
    ) -> JSONTree {
        place(Array(members), Array(optional) + fixDetails)
    }

    // One object without `allOf`: some generators drop the members beside it.
    static func place(
        _ members: [(key: String, value: JSONTree)], _ optional: [(key: String, value: JSONTree)]
    ) -> JSONTree {
        let coordinate: [(key: String, value: JSONTree)] = [
            ("latitude", latitude), ("longitude", longitude), ("x", planar), ("y", planar),
        ]
        return object(members, coordinate + optional).with([
            "dependentRequired": ["latitude": ["longitude"], "longitude": ["latitude"], "x": ["y"], "y": ["x"]]
        ])
    }

    /// An object in a request: an unknown member is refused, and null means the same as absence.
    package static func body(
        _ members: KeyValuePairs<String, JSONTree> = [:], optional: KeyValuePairs<String, JSONTree> = [:]
    ) -> JSONTree {
        object(Array(members), optional.map { ($0.key, orNull($0.value)) }).with(["additionalProperties": false])
    }

    /// An object with members that it always has, and with optional ones. Readers ignore members that they do not
    /// know.
    package static func object(
        _ members: [(key: String, value: JSONTree)], _ optional: [(key: String, value: JSONTree)]
    ) -> JSONTree {
        let object: JSONTree = ["type": "object", "properties": .object(members + optional)]
        return members.isEmpty ? object : object.with(["required": .list(members.map { .text($0.key) })])
    }

    /// One page of a list, or all of a short one.
    ///
    /// - Parameter count: The most items, if that is known.
    package static func page(_ item: JSONTree, atMost count: Int? = nil) -> JSONTree {
        object(["items": list(item, count.map { 0...$0 }), "next": orNull(text), "asOf": asOf])
    }

    /// Joins the visits of a range of time, or removes them.
    private static let periodCorrection: KeyValuePairs<String, JSONTree> = [
        "type": word("merge", "notVisit"), "from": timeGiven, "to": timeGiven,
    ]
    /// Splits a visit at a time.
    private static let splitCorrection: KeyValuePairs<String, JSONTree> = ["type": word("split"), "at": timeGiven]
    /// Names the place at a coordinate.
    private static let nameCorrection: KeyValuePairs<String, JSONTree> = [
        "type": word("rename"), "latitude": latitude, "longitude": longitude,
        "name": text(1...Limits.placeNameCharacters),
    ]
    /// Joins the place at the second coordinate to that at the first.
    private static let placesCorrection: KeyValuePairs<String, JSONTree> = [
        "type": word("samePlace"), "latitude": latitude, "longitude": longitude, "otherLatitude": latitude,
        "otherLongitude": longitude,
    ]

    /// The optional members of a fix, as in CLLocation.
    private static let fixDetails: [(key: String, value: JSONTree)] = [
        ("horizontalAccuracy", number), ("altitude", number), ("ellipsoidalAltitude", number),
        ("verticalAccuracy", number), ("floor", ["type": "integer"]), ("speed", number), ("speedAccuracy", number),
        ("course", number), ("courseAccuracy", number), ("batteryLevel", number),
        ("sourceInformation", ref("SourceInformation")), ("id", text), ("receivedAt", timeGiven), ("answering", uuid),
        ("remainder", anyObject),
    ]

    /// The members of a placemark of a coordinate, all optional.
    private static let placemarkMembers = members(of: PlacemarkItem.self) { name in
        !["countryCode", "population", "match"].contains(name)
    }

    /// A region in a request, with one shape. The other shape may be null, as clients with fixed members send it.
    private static func newRegion(_ shape: String, _ schema: JSONTree, without other: String) -> JSONTree {
        object(
            [("id", ref("RegionID")), (shape, schema)],
            [
                (other, ["type": "null"]), ("notifyOnEntry", orNull(boolean)), ("notifyOnExit", orNull(boolean)),
            ]
        ).with(["additionalProperties": false])
    }

    // MARK: Named ones

    /// A reference to a schema of ``named``, or to one that the catalog names.
    package static func ref(_ name: String) -> JSONTree { ["$ref": .text("#/components/schemas/\(name)")] }

    package static let handle = ref("Handle")
    package static let time = ref("Time")
    package static let timeGiven = ref("TimeGiven")
    package static let precision = ref("Precision")
    package static let hours = ref("WeeklyHours")
    package static let location = ref("Location")
    package static let fix = ref("Fix")
    package static let visit = ref("Visit")
    package static let decidingFix = ref("DecidingFix")
    package static let placemark = ref("Placemark")
    package static let region = ref("Region")
    package static let regionID = ref("RegionID")
    package static let generation = ref("Generation")
    package static let reportOutcome = ref("ReportOutcome")
    package static let importOutcome = ref("ImportOutcome")
    package static let pushAttempt = ref("PushAttempt")
    package static let pushOutcome = ref("PushOutcome")
    package static let queryStatus = ref("LocationQueryStatus")
    package static let travelMode = ref("TravelMode")
    package static let scope = ref("Scope")
    package static let topic = ref("Topic")
    static let projectionName = ref("ProjectionName")
    static let answerFormat = ref("AnswerFormat")
    package static let anyObject = ref("AnyObject")
    package static let problem = ref("Problem")
    package static let changed = ref("Changed")

    /// The schemas that others refer to, in the order of the description.
    package static let named: KeyValuePairs<String, JSONTree> = [
        "Handle": pattern("^[a-z0-9][a-z0-9._-]{0,62}$", "anna").with(["description": "The name of a person or device."]
        ),
        "Time": [
            "type": "number", "description": "Unix seconds with at most three decimals.", "examples": [1_777_881_600],
        ],
        "TimeGiven": [
            "description": "Unix seconds or ISO 8601.", "examples": ["2026-05-04T08:00:00Z"],
            "anyOf": [
                [
                    "type": "number", "minimum": .number(-Timestamp.lastSeconds),
                    "maximum": .number(Timestamp.lastSeconds),
                ],
                ["type": "string", "format": "date-time"],
            ],
        ],
        "Precision": word("exact", "kilometer", "city", "place", "none"),
        "AnyObject": ["type": "object", "description": "Any members."],
        "AnswerFormat": word("json", "geojson"),
        "LocationQueryStatus": word("pending", "answered", "answeredFromLastKnown", "noAnswer"),
        "TravelMode": words(Trip.Mode.allCases.map(\.word)),
        "Scope": word("query", "audit", "manage"),
        "Topic": words(FeedTopics.words),
        "ProjectionName": words(ProjectionKind.all.map(\.name)),
        "PushOutcome": words(LocationPushAttempt.Outcome.allCases.map(\.word)),
        "WeeklyHours": object(of: HoursItem.self).with([
            "description":
                "The hours in which a grant is valid, in the form of OpenStreetMap's opening hours and the local time of a zone."
        ]),
        "Reference": [
            "description":
                "The operator gets the log's own number. Everyone else gets an opaque reference, which differs between callers. It is the same each time for the same event or thing; `asOf` is different in each answer.",
            "examples": ["r8Vu2n0mVpjCrr7a6lTqB5A"], "anyOf": [count, pattern("^r[A-Za-z0-9_-]{22}$")],
        ],
        "TripEnd": object(of: TripEndItem.self),
        "FeatureCollection": object(
            [
                "type": word("FeatureCollection"),
                "features": list(
                    object(
                        ["type": word("Feature"), "properties": anyObject, "geometry": orNull(ref("Geometry"))],
                        optional: ["place": orNull(ref("Geometry"))])),
            ],
            optional: [
                "coordRefSys": [
                    "type": "string", "format": "uri", "examples": ["http://www.opengis.net/def/crs/EPSG/0/2056"],
                ]
            ]
        ).with([
            "description":
                "RFC 7946, with `next` and `asOf` as members of the collection. With `crs`, `geometry` is in that system, which `coordRefSys` names, and `place` repeats it for readers of JSON-FG."
        ]),
        "Geometry": object([
            "type": word("Point", "LineString", "Polygon"), "coordinates": list([:]),
        ]).with(["examples": [["type": "Point", "coordinates": [16.3778, 48.1737]]]]),
        "Location": object(of: LocationItem.self),
        "Fix": object(
            [("timestamp", timeGiven), ("latitude", latitude), ("longitude", longitude)], fixDetails
        ).with(["description": "A fix in the names and units of CLLocation."]),
        "FixBatch": object(["fixes": list(fix, 0...Limits.batchCommands)]),
        "FixReport": ["description": "One or more fixes.", "anyOf": [fix, ref("FixBatch")]],
        "DeviceBatch": object(["device": handle, "fixes": importedFixes]).with([
            "description": "The fixes of one device that exists."
        ]),
        "DevicesBatch": object(
            [
                "devices": list(
                    object(
                        ["person": handle, "device": handle, "fixes": importedFixes],
                        optional: ["visits": importedVisits]),
                    0...Limits.batchCommands)
            ], optional: ["file": orNull(importedFile)]
        ).with(["description": "The fixes of devices that are added, with their people, if they do not exist."]),
        "SourceInformation": object(of: SourceInformationItem.self),
        "Visit": object(of: VisitItem.self),
        "DecidingFix": object(of: DecidingFixItem.self),
        "Placemark": object([], placemarkMembers).with(["description": "The keys of CLPlacemark, absent if unknown."]),
        "LocationPlace": object([], placemarkMembers + members(of: PlacemarkItem.self) { $0 == "countryCode" }).with([
            "description": "The gazetteer's names for the place. `countryCode` repeats `isoCountryCode`."
        ]),
        "FoundPlacemark": object(
            members(of: PlacemarkItem.self) { $0 == "match" },
            placemarkMembers + members(of: PlacemarkItem.self) { $0 == "population" }),
        "Correction": [
            "oneOf": [
                ref("PeriodCorrection"), ref("SplitCorrection"), ref("NameCorrection"), ref("PlacesCorrection"),
            ]
        ],
        "PeriodCorrection": object(Array(periodCorrection) + [("id", event)], []),
        "SplitCorrection": object(Array(splitCorrection) + [("id", event)], []),
        "NameCorrection": object(Array(nameCorrection) + [("id", event)], []),
        "PlacesCorrection": object(Array(placesCorrection) + [("id", event)], []),
        "NewCorrection": [
            "oneOf": [
                ref("NewPeriodCorrection"), ref("NewSplitCorrection"), ref("NewNameCorrection"),
                ref("NewPlacesCorrection"),
            ]
        ],
        "NewPlacesCorrection": body(placesCorrection),
        "NewPeriodCorrection": body(periodCorrection),
        "NewSplitCorrection": body(splitCorrection),
        "NewNameCorrection": body(nameCorrection),
        "Region": object(of: RegionItem.self),
        "NewRegion": ["oneOf": [ref("NewCircularRegion"), ref("NewPolygonalRegion")]],
        "NewCircularRegion": newRegion("circle", ref("Circle"), without: "polygon"),
        "NewPolygonalRegion": newRegion("polygon", ref("Polygon"), without: "circle"),
        "RegionID": text(1...Limits.regionNameCharacters).with([
            "pattern": .text(#"^(?!\.\.?$)[^\u0000-\u001F\u007F/\\]+$"#), "examples": ["home"],
        ]),
        "Circle": object([
            "latitude": latitude, "longitude": longitude,
            "radiusMeters": ["type": "number", "exclusiveMinimum": 0],
        ]),
        "Polygon": object([
            "type": word("Polygon"),
            "coordinates": list(
                list(["type": "array", "prefixItems": [longitude, latitude], "items": number, "minItems": 2]), 1...1
            ).with([
                "description": "GeoJSON: one ring of longitude and latitude."
            ]),
        ]),
        "Generation": object(of: GenerationItem.self),
        "ReportOutcome": object(
            [
                "new": count, "duplicate": count, "twins": count,
                "rejected": list(object(["index": count, "reason": text], optional: ["detail": text])),
            ], optional: ["number": asOf]),
        "ImportOutcome": object(
            [:],
            optional: [
                "new": count, "duplicate": count, "twins": count,
                "rejected": list(object(["index": count, "reason": text], optional: ["detail": text])),
                "devices": list(
                    object(
                        [
                            "addedPerson": boolean, "addedDevice": boolean, "new": count, "duplicate": count,
                            "twins": count,
                            "rejected": list(object(["index": count, "reason": text], optional: ["detail": text])),
                        ], optional: ["visits": reportOutcome])), "number": asOf,
            ]),
        "PushAttempt": object(of: PushAttemptItem.self),
        "Changed": object(of: Changed.self).with(["description": "The event that records the change."]),
        "Problem": object(
            [
                "type": ["type": "string", "format": "uri", "examples": ["urn:problem-type:not-found"]], "title": text,
                "status": integer(400...599), "detail": text,
            ]
        ).with(["description": "RFC 9457: the kind of the problem, and its remedy in one sentence."]),
    ]
}
