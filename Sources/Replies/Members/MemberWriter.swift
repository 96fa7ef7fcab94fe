package import JSON

/// Writes replies as JSON, their places in degrees or in another reference system, and as features of GeoJSON.
///
/// All of one answer goes through one writer, which owns the bytes: a member costs its bytes and no allocation.
package struct MemberWriter: MemberVisitor {
    package typealias Failure = Never

    /// The numbers of a place in another reference system; `nil` outside the system's area.
    package typealias Conversion = (_ latitude: Double, _ longitude: Double) -> (x: Double, y: Double)?

    /// The members of the object that is being written.
    private enum Part {
        case all
        /// All but the id and the place, which a feature has elsewhere.
        case properties
        /// All but the one of this name, which has become a feature.
        case others(than: String)
        /// The members that the client asked for.
        case only(Set<String>)
    }

    /// The bytes. For what has no type, members can be written to it directly.
    package var json: JSONWriter
    private let conversion: Conversion?
    /// Whether foreign JSON is written with its numbers in this writer's form. Only the plain form copies its bytes.
    private let rewrites: Bool
    private var part = Part.all

    /// - Parameters:
    ///   - conversion: The reference system; `nil` for degrees.
    ///   - isGeoJSON: Whether the items become features.
    package init(_ json: JSONWriter, in conversion: Conversion? = nil, isGeoJSON: Bool = false) {
        (self.json, self.conversion, rewrites) = (json, conversion, isGeoJSON || conversion != nil)
    }

    // MARK: Members

    package mutating func required<Value: MemberValue>(
        _ name: StaticString, _: @autoclosure () -> MemberForm, _ value: inout Value
    ) {
        write(name, value)
    }

    package mutating func optional<Value: MemberValue>(
        _ name: StaticString, _: @autoclosure () -> MemberForm, _ value: inout Value?
    ) {
        if let value { write(name, value) }
    }

    package mutating func nullable<Value: MemberValue>(
        _ name: StaticString, _: @autoclosure () -> MemberForm, _ value: inout Value?
    ) {
        if let value {
            write(name, value)
        } else if has(name) {
            json.key(name)
            json.null()
        }
    }

    private mutating func write<Value: MemberValue>(_ name: StaticString, _ value: Value) {
        if case .all = part {
            json.key(name)
            value.write(into: &self)
            return
        }
        guard has(name) else { return }
        let part = part
        self.part = .all
        if case .properties = part {
            value.writeProperty(name, into: &self)
        } else {
            json.key(name)
            value.write(into: &self)
        }
        self.part = part
    }

    /// Whether the object that is being written has the member here.
    private func has(_ name: StaticString) -> Bool {
        switch part {
        case .all: true
        case .properties: !name.isSame(as: "id")
        case .others(let other): name.description != other
        case .only(let wanted): wanted.contains(name.description)
        }
    }

    /// Writes JSON of someone else.
    mutating func copy(_ text: String) {
        if rewrites, let root = (try? JSONDocument.parse(Array(text.utf8)))?.root {
            json.value(root)
        } else {
            json.raw(Array(text.utf8))
        }
    }

    // MARK: Places

    package mutating func point(_ value: inout MapPoint) {
        if case .properties = part { return }
        if conversion == nil, case .degrees(let latitude, let longitude) = value {
            write("latitude", latitude)
            write("longitude", longitude)
            return
        }
        let numbers = numbers(of: value)
        for (key, number) in [("x", numbers?.x), ("y", numbers?.y)] as [(StaticString, Double?)] where has(key) {
            json.key(key)
            if let number { json.value(number) } else { json.null() }
        }
    }

    package mutating func optionalPoint(_ value: inout MapPoint?) {
        if var point = value { self.point(&point) }
    }

    /// The place in the requested system, longitude or easting first; `nil` outside the system's area.
    func numbers(of point: MapPoint) -> (x: Double, y: Double)? {
        switch point {
        case .degrees(let latitude, let longitude): conversion.map { $0(latitude, longitude) } ?? (longitude, latitude)
        case .planar(let x, let y): (x, y)
        case .outside: nil
        }
    }

    // MARK: GeoJSON

    /// Writes an item as a feature: its `id` and geometry, and everything else as `properties`. A circle becomes its
    /// center, with `radiusMeters` as a property. In another system the geometry comes again as `place`.
    package mutating func feature<Item: Reply>(_ item: Item) {
        json.beginObject()
        json.field("type", "Feature")
        json.field("id", item.featureID)
        for member in conversion == nil ? ["geometry"] : ["geometry", "place"] {
            json.key(member)
            geometry(item.shape)
        }
        json.key("properties")
        json.beginObject()
        part = .properties
        item.writeMembers(into: &self)
        part = .all
        json.endObject()
        json.endObject()
    }

    /// Writes the members of an answer but the one of this name.
    package mutating func members<Answer: Reply>(of answer: Answer, otherThan name: String) {
        part = .others(than: name)
        answer.writeMembers(into: &self)
        part = .all
    }

    /// Writes the members of an object that the client asked for.
    mutating func members<Object: Reply>(of object: Object, only wanted: Set<String>) {
        part = .only(wanted)
        object.writeMembers(into: &self)
        part = .all
    }

    /// Writes a geometry (RFC 7946): null unless the whole of it is in the system's area.
    mutating func geometry(_ shape: MapShape?) {
        guard let shape else { return json.null() }
        let positions = shape.points.compactMap { numbers(of: $0) }
        guard positions.count == shape.points.count else { return json.null() }
        // A point is a position, a line a list of them, a polygon a list of lines.
        let (type, depth) =
            switch shape {
            case .point: ("Point", 0)
            case .line: ("LineString", 1)
            case .polygon: ("Polygon", 2)
            }
        json.beginObject()
        json.field("type", type)
        json.key("coordinates")
        for _ in 0..<depth { json.beginArray() }
        for position in positions {
            json.beginArray()
            json.value(position.x)
            json.value(position.y)
            json.endArray()
        }
        for _ in 0..<depth { json.endArray() }
        json.endObject()
    }
}

extension StaticString {
    /// Whether the bytes are the same. A text of them would be made for each member of each item.
    fileprivate func isSame(as other: StaticString) -> Bool {
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
            .elementsEqual(UnsafeBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount))
    }
}

extension JSONWriter {
    /// Writes the members of a reply into an open object.
    ///
    /// - Parameter wanted: The names of the members to write; `nil` for all.
    package mutating func members<Object: Reply>(of reply: Object, only wanted: Set<String>? = nil) {
        var writer = MemberWriter(self)
        // The bytes have one owner, so that appending does not copy them.
        self = JSONWriter(capacity: 0)
        if let wanted { writer.members(of: reply, only: wanted) } else { reply.writeMembers(into: &writer) }
        self = writer.json
    }

    /// Writes a reply as one object.
    ///
    /// - Parameter wanted: The names of the members to write; `nil` for all.
    package mutating func value<Object: Reply>(_ reply: Object, only wanted: Set<String>? = nil) {
        beginObject()
        members(of: reply, only: wanted)
        endObject()
    }
}

extension Reply {
    /// The reply as a JSON text.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }
}
