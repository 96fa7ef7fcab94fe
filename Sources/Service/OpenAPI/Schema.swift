import Whereabouts

/// JSON Schemas (2020-12) of what is sent and answered. The ones with a name of their own stand in ``named`` once and are
/// referred to.
enum Schema {
    // MARK: Values

    static let boolean: JSONTree = ["type": "boolean"]
    static let number: JSONTree = ["type": "number"]
    static let text: JSONTree = ["type": "string"]
    /// In an address, where NUL cannot stand.
    static let parameterText = pattern(#"^[^\u0000]*$"#)
    /// An event, or a thing that can be named in an address.
    static let event = ref("Reference")
    /// Up to where in the log an answer was read.
    static let asOf = ref("Reference")
    /// What only the operator sees, and sees as a number.
    static let eventNumber = integer(1...Int64.max)
    static let reference = pattern("^(r[A-Za-z0-9_-]{22}|[0-9]{1,19})$")
    static let count = integer(0...Int64.max)
    static let latitude: JSONTree = ["type": "number", "minimum": -90, "maximum": 90]
    static let longitude: JSONTree = ["type": "number", "minimum": -180, "maximum": 180]
    /// Meters, or a time in seconds, or anything else that cannot be less than nothing.
    static let length: JSONTree = ["type": "number", "minimum": 0]
    /// A number of a place in a reference system; null outside the system's area.
    private static let planar = orNull(number)
    static let visitID = pattern("^[0-9a-f]{16}$")
    static let uuid: JSONTree = ["type": "string", "format": "uuid"]
    static let timeZone: JSONTree = ["type": "string", "examples": ["Europe/Vienna"]]

    static func integer(_ range: ClosedRange<Int64>) -> JSONTree {
        ["type": "integer", "minimum": .int(range.lowerBound), "maximum": .int(range.upperBound)]
    }

    static func text(_ length: ClosedRange<Int>) -> JSONTree {
        ["type": "string", "minLength": .int(Int64(length.lowerBound)), "maxLength": .int(Int64(length.upperBound))]
    }

    static func pattern(_ pattern: String) -> JSONTree { ["type": "string", "pattern": .text(pattern)] }

    static func word(_ words: String...) -> JSONTree { ["type": "string", "enum": .list(words.map { .text($0) })] }

    static func list(_ items: JSONTree, _ count: ClosedRange<Int>? = nil) -> JSONTree {
        let list: JSONTree = ["type": "array", "items": items]
        guard let count else { return list }
        return list.with(["minItems": .int(Int64(count.lowerBound)), "maxItems": .int(Int64(count.upperBound))])
    }

    static func orNull(_ schema: JSONTree) -> JSONTree { ["anyOf": [schema, ["type": "null"]]] }

    /// An object of an answer; more members may come with time.
    static func object(
        _ members: KeyValuePairs<String, JSONTree>, optional: KeyValuePairs<String, JSONTree> = [:]
    ) -> JSONTree {
        object(Array(members), Array(optional))
    }

    /// An object of an answer that lies somewhere, in degrees or in the system that was asked for.
    static func place(
        _ members: KeyValuePairs<String, JSONTree>, optional: KeyValuePairs<String, JSONTree> = [:],
        and more: [JSONTree] = []
    ) -> JSONTree {
        object(members, optional: optional).with(["allOf": .list([ref("Place")] + more)])
    }

    /// An object of a request: a member of another name is refused, and null is as good as nothing.
    static func body(
        _ members: KeyValuePairs<String, JSONTree> = [:], optional: KeyValuePairs<String, JSONTree> = [:]
    ) -> JSONTree {
        object(Array(members), optional.map { ($0.key, orNull($0.value)) }).with(["additionalProperties": false])
    }

    private static func object(
        _ members: [(key: String, value: JSONTree)], _ optional: [(key: String, value: JSONTree)]
    ) -> JSONTree {
        let object: JSONTree = ["type": "object", "properties": .object(members + optional)]
        return members.isEmpty ? object : object.with(["required": .list(members.map { .text($0.key) })])
    }

    /// One page of a list, or all of a short one.
    ///
    /// - Parameter count: how many there can be, if that is known.
    static func page(_ item: JSONTree, atMost count: Int? = nil) -> JSONTree {
        object(["items": list(item, count.map { 0...$0 }), "next": orNull(text), "asOf": asOf])
    }

    private static let corrections: [KeyValuePairs<String, JSONTree>] = [
        ["type": word("merge", "notVisit"), "from": ref("TimeGiven"), "to": ref("TimeGiven")],
        ["type": word("split"), "at": ref("TimeGiven")],
        [
            "type": word("rename"), "latitude": latitude, "longitude": longitude,
            "name": text(1...Limits.placeNameCharacters),
        ],
    ]

    // MARK: Named ones

    static func ref(_ name: String) -> JSONTree { ["$ref": .text("#/components/schemas/\(name)")] }

    static let handle = ref("Handle")
    static let time = ref("Time")
    static let timeGiven = ref("TimeGiven")
    static let precision = ref("Precision")
    static let hours = ref("WeeklyHours")
    static let location = ref("Location")
    static let fix = ref("Fix")
    static let visit = ref("Visit")
    static let decidingFix = ref("DecidingFix")
    static let placemark = ref("Placemark")
    static let region = ref("Region")
    static let regionID = ref("RegionID")
    static let generation = ref("Generation")
    static let reportOutcome = ref("ReportOutcome")
    static let pushAttempt = ref("PushAttempt")
    static let pushOutcome: JSONTree = [
        "type": "string", "enum": .list(LocationPushAttempt.Outcome.allCases.map { .text($0.word) }),
    ]
    static let problem = ref("Problem")
    static let changed = ref("Changed")

    static let named: KeyValuePairs<String, JSONTree> = [
        "Handle": pattern("^[a-z0-9][a-z0-9._-]{0,62}$").with(["description": "What a person or device is called."]),
        "Time": ["type": "number", "description": "Unix seconds with at most three decimals."],
        "TimeGiven": [
            "description": "Unix seconds, or a time as ISO 8601 writes it.",
            "anyOf": [
                [
                    "type": "number", "minimum": .number(-Timestamp.lastSeconds),
                    "maximum": .number(Timestamp.lastSeconds),
                ],
                ["type": "string", "format": "date-time"],
            ],
        ],
        "Precision": word("exact", "kilometer", "city", "none"),
        "WeeklyHours": object(["timeZone": timeZone, "weekly": text]).with([
            "description":
                "When a grant is in force: weekdays and times as OpenStreetMap writes opening hours, by a clock on the wall."
        ]),
        "Reference": [
            "description":
                "The operator gets the log's own number. Everyone else gets an opaque reference of their own, which names the same event or thing each time; `asOf` is another one in each answer.",
            "anyOf": [count, pattern("^r[A-Za-z0-9_-]{22}$")],
        ],
        "Place": object([:], optional: ["latitude": latitude, "longitude": longitude, "x": planar, "y": planar]).with([
            "anyOf": [["required": ["latitude", "longitude"]], ["required": ["x", "y"]]]
        ]),
        "FeatureCollection": object([
            "type": word("FeatureCollection"),
            "features": list(
                object([
                    "type": word("Feature"), "properties": ["type": "object"],
                    "geometry": orNull(
                        object(["type": word("Point", "LineString", "Polygon"), "coordinates": ["type": "array"]])),
                ])),
        ]).with(["description": "RFC 7946; `next` and `asOf` stand beside the features."]),
        "Location": place(
            ["timestamp": time, "precision": precision],
            optional: [
                "horizontalAccuracy": length, "altitude": number, "speed": length, "course": length,
                "place": [
                    "description": "What the gazetteer says of it. `countryCode` is `isoCountryCode` once more.",
                    "allOf": [placemark, object([:], optional: ["countryCode": text])],
                ],
            ]),
        "Fix": object(["timestamp": timeGiven, "latitude": latitude, "longitude": longitude]).with([
            "allOf": [ref("FixDetails")], "description": "What CLLocation says, in its names and units.",
        ]),
        "FixDetails": object(
            [:],
            optional: [
                "horizontalAccuracy": number, "altitude": number, "ellipsoidalAltitude": number,
                "verticalAccuracy": number, "floor": ["type": "integer"], "speed": number, "speedAccuracy": number,
                "course": number, "courseAccuracy": number, "batteryLevel": number,
                "sourceInformation": object(
                    [:], optional: ["isSimulatedBySoftware": boolean, "isProducedByAccessory": boolean]),
                "id": text, "receivedAt": timeGiven, "answering": uuid, "remainder": ["type": "object"],
            ]),
        "Visit": place(
            [
                "id": visitID, "arrival": time, "departure": orNull(time), "horizontalAccuracy": length,
                "firstReported": time,
            ],
            optional: [
                "place": text, "timeZone": timeZone, "departureReported": time,
                "provisional": boolean.with([
                    "description":
                        "Whether the visit follows from elapsed time alone; the next fix may end or remove it."
                ]),
            ]),
        "DecidingFix": object(
            ["number": event, "timestamp": time, "metersOff": length, "used": boolean],
            optional: ["horizontalAccuracy": length]),
        "Placemark": object(
            [:],
            optional: [
                "name": text, "thoroughfare": text, "subThoroughfare": text, "subLocality": text, "locality": text,
                "subAdministrativeArea": text, "administrativeArea": text, "administrativeAreaCode": text,
                "postalCode": text, "isoCountryCode": text, "country": text,
                "inlandWater": text, "ocean": text, "areasOfInterest": list(text), "claimants": list(text),
                "otherCountryCodes": list(text), "timeZone": timeZone, "otherTimeZones": list(timeZone),
                "latitude": latitude, "longitude": longitude,
                "distance": length.with(["description": "Meters to the nearest populated place."]),
                "geonameId": ["type": "integer"],
            ]
        ).with(["description": "The keys of CLPlacemark, absent where unknown."]),
        "Correction": ["oneOf": .list(corrections.map { object($0) })],
        "CorrectionGiven": ["oneOf": .list(corrections.map { body($0) })],
        "Region": object(
            ["id": ref("RegionID")],
            optional: [
                "circle": place(["radiusMeters": number]),
                "polygon": orNull(object(["type": word("Polygon"), "coordinates": list(list(list(number)))])),
                "notifyOnEntry": boolean, "notifyOnExit": boolean,
            ]),
        "RegionID": text(1...Limits.regionNameCharacters).with([
            "pattern": .text(#"^(?!\.\.?$)[^\u0000-\u001F\u007F/\\]+$"#)
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
        "Generation": object(["name": text, "version": count, "generation": count, "role": text]),
        "ReportOutcome": object(
            [
                "new": count, "duplicate": count, "twins": count,
                "rejected": list(object(["index": count, "reason": text], optional: ["detail": text])),
            ], optional: ["number": asOf]),
        "PushAttempt": object(
            ["attempt": count, "durationMilliseconds": count, "outcome": pushOutcome],
            optional: ["status": count, "reason": text]),
        "Changed": object(["number": event]).with(["description": "The event that records the change."]),
        "Problem": object(
            ["title": text, "status": integer(400...599), "detail": text]
        ).with(["description": "RFC 9457: what went wrong, and in one sentence what to do."]),
    ]
}
