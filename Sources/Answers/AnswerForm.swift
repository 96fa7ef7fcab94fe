package import Geodesy
import HTTPServer
package import JSON

/// How an answer about a person writes places: in which coordinate reference system, and whether as GeoJSON.
///
/// In a system other than WGS 84, `x` and `y` replace `latitude` and `longitude`. Both are null outside the area in
/// which the register allows the system: an error instead would disclose an area that the person is in, without a
/// record. x is always the easting or longitude, whatever order the register has, as in GeoJSON and the importers
/// (`CoordinateReferenceSystem`). The member `referenceSystem` names both axes and the PROJ operations that made the
/// numbers, with their accuracies.
///
/// GeoJSON (RFC 7946) is a `FeatureCollection` of the `items`, or of the one location: a point, for a trip the line
/// from its start to its end, for a region its circle's center or its polygon. `next` and `asOf` are members of the
/// collection. RFC 7946, section 4, allows other systems than WGS 84 by prior arrangement; the parameter `crs` is that
/// arrangement. `coordRefSys` names the system, and each feature repeats its geometry as `place`, where JSON-FG (OGC
/// 21-045) expects it.
package struct AnswerForm {
    /// Whether the answer is GeoJSON: `format=geojson`, or without `format`, `application/geo+json` as the most
    /// preferred type in `Accept`.
    let isGeoJSON: Bool
    /// The system of the numbers; `nil` for WGS 84 in degrees.
    package let system: CoordinateReferenceSystem?
    /// The operations that made the numbers written so far.
    private var operations = CoordinateReferenceSystem.UsedOperations()

    package static let geoJSONType = "application/geo+json"

    /// Reads `format`, `Accept` and `crs` of a request.
    ///
    /// - Throws: 400 if `crs` does not name a system, 422 if the register does not have it or PROJ cannot transform it
    ///   to WGS 84.
    package init(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) {
        switch exchange.request.parameter("format") {
        case "geojson": isGeoJSON = true
        case "json": isGeoJSON = false
        case nil:
            let accepted = exchange.request.header("accept").map { Preference.preferred($0.lowercased()) } ?? []
            isGeoJSON = accepted.first == Self.geoJSONType
        default: throw .invalid("\"format\" must be json or geojson.")
        }
        system = try exchange.request.parameter("crs").map { (code) throws(Problem) in
            try context.referenceSystem(try Self.code(code))
        }
    }

    /// The beginning of the addresses that OGC gives the register's systems.
    private static let addresses = "http://www.opengis.net/def/crs/EPSG/0/"

    /// OGC's address of a system, for example `http://www.opengis.net/def/crs/EPSG/0/3857`.
    private static func address(of system: CoordinateReferenceSystem) -> String {
        addresses + system.code.dropFirst("EPSG:".count)
    }

    /// `EPSG:n`, the code of a system in the EPSG register, from a text of that form or from OGC's address of the
    /// system.
    private static func code(_ text: String) throws(Problem) -> String {
        let code = text.hasPrefix(addresses) ? "EPSG:\(text.dropFirst(addresses.count))" : text
        let number = code.utf8.dropFirst(5)
        guard code.hasPrefix("EPSG:"), (1...6).contains(number.count), number.allSatisfy({ (48...57).contains($0) })
        else { throw .invalid("\"crs\" must be a number of the EPSG register, for example EPSG:3857.") }
        return code
    }

    /// The answer in this form: the bytes that are recorded and sent. Without a form, the same bytes.
    ///
    /// Parses the JSON and writes it again, so the cost is linear in its length; each coordinate in another system
    /// takes a PROJ transformation.
    package func written(_ computed: Gate.Computed) throws(Problem) -> Gate.Computed {
        guard isGeoJSON || system != nil else { return computed }
        guard let root = (try? JSONDocument.parse(computed.body))?.root else { throw .broken }
        var form = self
        let body = form.bytes(of: root)
        var headers = [(name: "Content-Type", value: isGeoJSON ? Self.geoJSONType : "application/json")]
        if let system { headers.append(("Content-Crs", "<\(Self.address(of: system))>")) }
        return Gate.Computed(body: body, count: computed.count, asOf: computed.asOf, headers: headers)
    }

    /// The whole answer: the members or the collection, then `referenceSystem`, which needs to know the operations
    /// used.
    private mutating func bytes(of root: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if isGeoJSON { writeCollection(root, into: &writer) } else { writeMembers(of: root, into: &writer) }
        if let system {
            writer.object("referenceSystem") { writer in
                writer.field("code", system.code)
                writer.field("name", system.name)
                writer.array("axes") { writer in
                    writer.value(system.axisNames.x)
                    writer.value(system.axisNames.y)
                }
                writer.array("areaOfUse") { writer in
                    let area = system.areaOfUse
                    for degrees in [area.west, area.south, area.east, area.north] { writer.value(degrees) }
                }
                writer.key("accuracyMeters")
                if let meters = operations.accuracyMeters { writer.value(meters) } else { writer.null() }
                writer.key("operations")
                operations.write(into: &writer)
            }
        }
        writer.endObject()
        return writer.bytes
    }

    // MARK: JSON

    /// Writes a value, with the places in it at any depth in this form.
    private mutating func write(_ value: JSONValue, into writer: inout JSONWriter) {
        if value.members != nil {
            writer.beginObject()
            writeMembers(of: value, into: &writer)
            writer.endObject()
        } else if let array = value.array {
            writer.beginArray()
            for element in array { write(element, into: &writer) }
            writer.endArray()
        } else {
            writer.value(value)
        }
    }

    /// Writes the members of an object. `x` and `y` take the place of `longitude`; other members keep their order.
    private mutating func writeMembers(of object: JSONValue, into writer: inout JSONWriter) {
        let place = system == nil ? nil : Self.place(of: object)
        for (key, value) in Self.members(of: object) {
            switch key {
            case "latitude" where place != nil: break
            case "longitude" where place != nil:
                let numbers = place.flatMap { self.numbers($0) }
                for (key, number) in [("x", numbers?.x), ("y", numbers?.y)] {
                    writer.key(key)
                    if let number { writer.value(number) } else { writer.null() }
                }
            case "polygon":
                writer.key(key)
                writeGeometry(of: object, into: &writer)
            default:
                writer.key(key)
                write(value, into: &writer)
            }
        }
    }

    private static func members(of object: JSONValue) -> [(key: String, value: JSONValue)] {
        object.members.map(Array.init) ?? []
    }

    /// The coordinate of an object with `latitude` and `longitude`; `nil` for any other.
    private static func place(of object: JSONValue) -> Coordinate? {
        guard let latitude = object["latitude"]?.double, let longitude = object["longitude"]?.double else { return nil }
        return try? Coordinate(latitude: latitude, longitude: longitude)
    }

    /// The place in the requested system, or `nil` outside the system's area.
    private mutating func numbers(_ place: Coordinate) -> (x: Double, y: Double)? {
        guard let system else { return (place.longitude, place.latitude) }
        guard let numbers = try? system.fromWGS84(place) else { return nil }
        if let operation = try? system.operation(at: place) { operations.insert(operation) }
        return numbers
    }

    // MARK: GeoJSON

    /// Writes the members of the collection. An answer without `items` has one feature, or none if its location or
    /// visit is null.
    private mutating func writeCollection(_ root: JSONValue, into writer: inout JSONWriter) {
        writer.field("type", "FeatureCollection")
        if let system { writer.field("coordRefSys", Self.address(of: system)) }
        writer.array("features") { writer in
            let items = root["items"]?.array.map { Array($0) } ?? [root["location"] ?? root["visit"]].compactMap { $0 }
            for item in items where !item.isNull { writeFeature(item, into: &writer) }
        }
        for (key, value) in Self.members(of: root) where !["items", "location", "visit"].contains(key) {
            writer.key(key)
            writer.value(value)
        }
    }

    /// Writes an item as a feature: its `id` and geometry, and everything else as `properties`. A circle becomes its
    /// center, with `radiusMeters` as a property.
    private mutating func writeFeature(_ item: JSONValue, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("type", "Feature")
        if let id = item["id"] {
            writer.key("id")
            writer.value(id)
        }
        for member in system == nil ? ["geometry"] : ["geometry", "place"] {
            writer.key(member)
            writeGeometry(of: item, into: &writer)
        }
        writer.object("properties") { writer in
            for (key, value) in Self.members(of: item)
            where !["id", "latitude", "longitude"].contains(key) {
                switch key {
                case "circle": writer.field("radiusMeters", value["radiusMeters"]?.double)
                case "polygon": break
                default:
                    writer.key(key)
                    write(value, into: &writer)
                }
            }
        }
        writer.endObject()
    }

    /// Null unless the whole geometry is in the system's area.
    private mutating func writeGeometry(of item: JSONValue, into writer: inout JSONWriter) {
        let geometry = Geometry(of: item)
        let positions = geometry?.places.compactMap { numbers($0) } ?? []
        if let geometry, positions.count == geometry.places.count {
            geometry.write(positions, into: &writer)
        } else {
            writer.null()
        }
    }

    /// The geometry of an item, as a map draws it.
    private enum Geometry {
        case point(Coordinate)
        case line([Coordinate])
        case polygon([Coordinate])

        /// The geometry of an item, by the first that it has: a coordinate or circle, `from` and `to`, a polygon. `nil`
        /// for an item without a place.
        init?(of item: JSONValue) {
            if let place = AnswerForm.place(of: item) ?? item["circle"].flatMap(AnswerForm.place) {
                self = .point(place)
            } else if let from = item["from"].flatMap(AnswerForm.place), let to = item["to"].flatMap(AnswerForm.place) {
                self = .line([from, to])
            } else if let ring = item["polygon"]?["coordinates"]?.array?.first(where: { _ in true })?.array {
                self = .polygon(
                    ring.compactMap { position in
                        let numbers = position.array.map { $0.compactMap(\.double) } ?? []
                        return numbers.count < 2
                            ? nil : try? Coordinate(latitude: numbers[1], longitude: numbers[0])
                    })
            } else {
                return nil
            }
        }

        /// The coordinates in the order of the geometry; a polygon's ring repeats its first one at the end.
        var places: [Coordinate] {
            switch self {
            case .point(let place): [place]
            case .line(let places), .polygon(let places): places
            }
        }

        /// - Parameter positions: The positions of ``places``, in the same order.
        func write(_ positions: [(x: Double, y: Double)], into writer: inout JSONWriter) {
            // A point is a position, a line a list of them, a polygon a list of lines.
            let (type, depth) =
                switch self {
                case .point: ("Point", 0)
                case .line: ("LineString", 1)
                case .polygon: ("Polygon", 2)
                }
            writer.beginObject()
            writer.field("type", type)
            writer.key("coordinates")
            for _ in 0..<depth { writer.beginArray() }
            for position in positions {
                writer.beginArray()
                writer.value(position.x)
                writer.value(position.y)
                writer.endArray()
            }
            for _ in 0..<depth { writer.endArray() }
            writer.endObject()
        }
    }
}

extension CoordinateReferenceSystem.UsedOperations {
    /// `[{"name","accuracyMeters"}]`, by name; the accuracy is null if it is unknown.
    package func write(into writer: inout JSONWriter) {
        writer.beginArray()
        for operation in inOrder {
            writer.beginObject()
            writer.field("name", operation.name)
            writer.key("accuracyMeters")
            if let meters = operation.accuracyMeters { writer.value(meters) } else { writer.null() }
            writer.endObject()
        }
        writer.endArray()
    }
}

extension AnswerContext {
    /// The number of systems that a thread keeps: to make one reads PROJ's database and takes milliseconds.
    private static let systemsKept = 8

    /// A system of the EPSG register, for example `EPSG:3857`. The thread keeps the last few.
    ///
    /// - Throws: 422 if the register has no system of that number, or PROJ cannot transform it to WGS 84.
    func referenceSystem(_ code: String) throws(Problem) -> CoordinateReferenceSystem {
        if let known = systems[code] { return known }
        do throws(GeodesyError) {
            let system = try CoordinateReferenceSystem(code: code)
            if systems.count >= Self.systemsKept { systems = [:] }
            systems[code] = system
            return system
        } catch .unknownReferenceSystem {
            throw .refused("The EPSG register has no projected or geographic system \(code); choose another.")
        } catch {
            throw .refused("PROJ knows no way between WGS 84 and \(code); choose another.")
        }
    }
}
