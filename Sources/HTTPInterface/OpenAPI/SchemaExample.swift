/// Makes an example of a schema, with plausible values.
///
/// The schema's own `examples` come first, then the first word of an `enum`, then a value by the member's name. An
/// object in an answer has all its members, one in a request only the required ones.
struct SchemaExample {
    /// The named schemas, to follow references.
    let schemas: [String: JSONTree]
    /// Whether the example is of a request body, and so leaves optional members out.
    let isBody: Bool

    /// Takes the schemas that the catalog has now; later ones are unknown to the example.
    init(_ catalog: SchemaCatalog, isBody: Bool) {
        schemas = Dictionary(uniqueKeysWithValues: catalog.schemas.map { ($0.key, $0.value) })
        self.isBody = isBody
    }

    /// An example of a SHA-256 in hexadecimal.
    private static let digest = String(repeating: "5f3a09c1", count: 8)
    /// Plausible texts by the name of the member.
    private static let texts: [String: String] = [
        "purpose": "late for dinner", "name": "Favoriten, Wien", "place": "Favoriten, Wien", "title": "Not found",
        "detail": "There is no such person.", "url": "https://hooks.example/whereabouts", "code": "example-code",
        "token": "wp_example", "secret": "whsec_example", "password": "wd_example", "next": "cursor",
        "requester": "ben", "status": "ok", "kind": "PersonAdded", "role": "active", "reason": "tooOld",
        "weekly": "Mo-Fr 08:00-18:00", "usualHours": "Mo-Fr 08:00-18:00", "period": "2026-05-04",
        "country": "Österreich", "countryCode": "AT", "isoCountryCode": "AT", "administrativeArea": "Wien",
        "administrativeAreaCode": "AT-9", "locality": "Wien", "subLocality": "Favoriten", "postalCode": "1100",
        "thoroughfare": "Favoritenstraße", "subThoroughfare": "100", "address": "/owntracks", "version": "0.1.0",
        "message": "msg_1_31", "leaf": digest, "root": digest, "body": "a1",
        "fingerprint": digest, "table": "visit", "key": "anna", "result": "ok", "refold": "equal", "rows": "ok",
    ]
    /// Plausible numbers by the name of the member; others get the least that the schema allows.
    private static let numbers: [String: Double] = [
        "latitude": 48.1737, "longitude": 16.3778, "horizontalAccuracy": 12, "altitude": 171, "speed": 1.4,
        "course": 90, "radiusMeters": 150, "distance": 420, "distanceMeters": 5200, "durationSeconds": 1260,
        "staySeconds": 28_800, "moveSeconds": 5400, "unknownSeconds": 0, "seconds": 86_400, "totalSeconds": 28_800,
        "dwellSeconds": 28_800, "metersOff": 14, "everySeconds": 1800, "battery": 0.8, "confidence": 0.93,
        "population": 201_882, "geonameId": 2_779_467, "fixes": 120, "visits": 3,
    ]

    /// An example of a schema. The first of several choices is taken.
    ///
    /// - Parameter name: The member that holds the value.
    func of(_ schema: JSONTree, _ name: String = "") -> JSONTree {
        if case .text(let reference)? = schema["$ref"] {
            let key = reference.split(separator: "/").last.map(String.init) ?? ""
            return schemas[key].map { of($0, name) } ?? .null
        }
        if case .list(let examples)? = schema["examples"], let first = examples.first { return first }
        if case .list(let words)? = schema["enum"], let first = words.first { return first }
        for key in ["anyOf", "oneOf"] {
            if case .list(let choices)? = schema[key], let first = choices.first { return of(first, name) }
        }
        switch schema["type"] {
        case "object": return object(schema)
        case "array": return array(schema, name)
        case "boolean": return true
        case "integer": return .int(Self.numbers[name].map { Int64($0) } ?? least(schema))
        case "number": return .number(Self.numbers[name] ?? Double(least(schema)))
        case "string": return .text(Self.texts[name] ?? "example")
        default: return .object([])
        }
    }

    /// An object's members by the rule above. Planar coordinates are left out of answers, because they replace degrees.
    private func object(_ schema: JSONTree) -> JSONTree {
        guard case .object(let properties)? = schema["properties"] else { return .object([]) }
        var names: Set<String> = []
        if case .list(let required)? = schema["required"] {
            for case .text(let name) in required { names.insert(name) }
        }
        return .object(
            properties.filter { name, member in
                // An answer is in degrees or in another reference system.
                isBody
                    ? names.contains(name)
                    : !["x", "y", "coordRefSys"].contains(name) && !(name == "place" && names.contains("geometry"))
            }.map { name, member in (name, of(member, name)) })
    }

    /// One item; for a position, longitude and latitude.
    private func array(_ schema: JSONTree, _ name: String) -> JSONTree {
        if case .list(let parts)? = schema["prefixItems"] {
            return .list(zip(parts, ["longitude", "latitude"]).map { of($0, $1) })
        }
        return .list([of(schema["items"] ?? .object([]), name)])
    }

    /// The least number that the schema allows, at least 1.
    private func least(_ schema: JSONTree) -> Int64 {
        guard case .int(let least)? = schema["minimum"] else { return 1 }
        return max(least, 1)
    }
}
