import Geodesy
import HTTPServer
package import JSON
package import ReferenceSystems
package import Replies

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
    /// The numbers in ``system``.
    private let conversion: Conversion?

    /// The media type of GeoJSON (RFC 7946, section 12).
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
        conversion = system.map { Conversion(to: $0) }
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

    // MARK: Writing

    /// A writer for an answer in this form: the object is open, and ``ended(_:count:asOf:)`` ends it.
    ///
    /// - Parameter capacity: About the bytes of the answer.
    package func begun(capacity: Int) -> MemberWriter {
        var writer = MemberWriter(
            JSONWriter(capacity: capacity), in: conversion.map { $0.numbers }, isGeoJSON: isGeoJSON)
        writer.json.beginObject()
        if isGeoJSON {
            writer.json.field("type", "FeatureCollection")
            if let system { writer.json.field("coordRefSys", Self.address(of: system)) }
        }
        return writer
    }

    /// Begins the items of a page, which are the features of a collection.
    package func beginItems(_ writer: inout MemberWriter) {
        writer.json.key(isGeoJSON ? Self.features : PageEnd.items)
        writer.json.beginArray()
    }

    /// Writes an item of a page. Each coordinate in another system takes a PROJ transformation.
    package func add<Item: Reply>(_ item: consuming Item, to writer: inout MemberWriter) {
        if isGeoJSON { writer.feature(item) } else { item.write(into: &writer) }
    }

    /// Ends the answer with `referenceSystem`, which needs to know the operations used.
    package func ended(_ writer: consuming MemberWriter, count: Int64, asOf: Int64) -> Gate.Computed {
        if let conversion { conversion.write(into: &writer.json) }
        writer.json.endObject()
        var headers = [(name: "Content-Type", value: isGeoJSON ? Self.geoJSONType : "application/json")]
        if let system { headers.append(("Content-Crs", "<\(Self.address(of: system))>")) }
        return Gate.Computed(body: writer.json.bytes, count: count, asOf: asOf, headers: headers)
    }

    /// An answer with one location or visit. As GeoJSON it has one feature, or none without an item.
    ///
    /// - Parameters:
    ///   - member: The name of the item in the answer.
    ///   - item: The item; `nil` if the answer has none.
    package func answer<Answer: Reply, Item: Reply>(
        _ answer: Answer, showing member: String, _ item: Item?, count: Int64, asOf: Int64
    ) -> Gate.Computed {
        var writer = begun(capacity: 512)
        if isGeoJSON {
            writer.json.key(Self.features)
            writer.json.beginArray()
            if let item { writer.feature(item) }
            writer.json.endArray()
            writer.members(of: answer, otherThan: member)
        } else {
            answer.writeMembers(into: &writer)
        }
        return ended(writer, count: count, asOf: asOf)
    }

    /// The items of a GeoJSON collection.
    private static let features: StaticString = "features"
}

/// The numbers of places in a reference system, and the operations that made them.
private final class Conversion {
    private let system: CoordinateReferenceSystem
    private var operations = CoordinateReferenceSystem.UsedOperations()

    init(to system: CoordinateReferenceSystem) { self.system = system }

    /// The place in the system, or `nil` outside the system's area.
    func numbers(_ latitude: Double, _ longitude: Double) -> (x: Double, y: Double)? {
        guard let place = try? Coordinate(latitude: latitude, longitude: longitude),
            let numbers = try? system.fromWGS84(place)
        else { return nil }
        if let operation = try? system.operation(at: place) { operations.insert(operation) }
        return numbers
    }

    /// Writes the member `referenceSystem`.
    func write(into writer: inout JSONWriter) {
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
