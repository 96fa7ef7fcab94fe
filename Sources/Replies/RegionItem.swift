package import JSON

/// A region of a person.
package struct RegionItem: Reply, Hashable {
    package var id: String
    package var area: RegionAreaItem

    package init(id: String, area: RegionAreaItem) {
        (self.id, self.area) = (id, area)
    }

    package static let schema: String? = "Region"

    package static var invented: Self {
        Self(id: .invented, area: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", .named("RegionID"), &id)
        try area.visit(&members)
    }

    package var shape: MapShape? { area.shape }
    package var featureID: String? { id }
}

/// The shape of a region, a circle or a polygon, and the crossings that are not noted.
package struct RegionAreaItem: Reply, Hashable {
    package var circle: CircleItem?
    package var polygon: PolygonItem?
    /// `nil` unless false.
    package var notifyOnEntry: Bool?
    /// `nil` unless false.
    package var notifyOnExit: Bool?

    package init(
        circle: CircleItem? = nil, polygon: PolygonItem? = nil, notifyOnEntry: Bool? = nil, notifyOnExit: Bool? = nil
    ) {
        (self.circle, self.polygon, self.notifyOnEntry, self.notifyOnExit) = (
            circle, polygon, notifyOnEntry, notifyOnExit
        )
    }

    package static var invented: Self {
        Self()
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.optional("circle", &circle)
        try members.optional("polygon", .orNull(PolygonItem.form), &polygon)
        try members.optional("notifyOnEntry", &notifyOnEntry)
        try members.optional("notifyOnExit", &notifyOnExit)
    }

    package var shape: MapShape? { circle.map { .point($0.at) } ?? polygon.map { .polygon($0.ring) } }
}

/// A circle of a region.
package struct CircleItem: Reply, Hashable {
    /// The center.
    package var at: MapPoint
    package var radiusMeters: Double

    package init(at: MapPoint, radiusMeters: Double) {
        (self.at, self.radiusMeters) = (at, radiusMeters)
    }

    package static var invented: Self {
        Self(at: .invented, radiusMeters: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.point(&at)
        try members.required("radiusMeters", &radiusMeters)
    }

    package func writeProperty(_: StaticString, into writer: inout MemberWriter) {
        writer.json.field("radiusMeters", radiusMeters)
    }
}

/// A polygon of a region, as GeoJSON.
package struct PolygonItem: MemberValue, Hashable {
    /// The vertices, of which the first comes again at the end.
    package var ring: [MapPoint]

    package init(ring: [MapPoint]) { self.ring = ring }

    package static var form: MemberForm {
        .object([
            Member(name: "type", form: .words(["Polygon"]), presence: .always),
            Member(name: "coordinates", form: .list(.list(.list(.number))), presence: .always),
        ])
    }
    package static var invented: PolygonItem { PolygonItem(ring: []) }

    /// In another system null unless the whole of it is in the system's area.
    package func write(into writer: inout MemberWriter) { writer.geometry(.polygon(ring)) }

    /// A feature has it as its geometry.
    package func writeProperty(_: StaticString, into _: inout MemberWriter) {}

    package static func read(_ json: JSONValue) -> PolygonItem? {
        guard let ring = json["coordinates"]?.array?.first(where: { _ in true })?.array else { return nil }
        let points = ring.compactMap { position -> MapPoint? in
            let numbers = position.array.map { $0.prefix(2).compactMap(\.double) } ?? []
            return numbers.count == 2 ? .degrees(latitude: numbers[1], longitude: numbers[0]) : nil
        }
        return points.count == ring.underestimatedCount ? PolygonItem(ring: points) : nil
    }
}
