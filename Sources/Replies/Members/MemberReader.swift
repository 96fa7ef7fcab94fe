package import JSON

/// Reads the members of a JSON object. Members that it is not asked for are ignored.
package struct MemberReader: MemberVisitor {
    package typealias Failure = ReplyError

    private let object: JSONValue

    /// - Parameter object: Any JSON; one that is no object has no members.
    package init(_ object: JSONValue) { self.object = object }

    package mutating func required<Value: MemberValue>(
        _ name: StaticString, _: @autoclosure () -> MemberForm, _ value: inout Value
    ) throws(ReplyError) {
        guard let json = object[name] else { throw .missing(name.description) }
        value = try read(name, json)
    }

    package mutating func optional<Value: MemberValue>(
        _ name: StaticString, _: @autoclosure () -> MemberForm, _ value: inout Value?
    ) throws(ReplyError) {
        guard let json = object[name] else { return }
        value = json.isNull ? try Value.read(json) : try read(name, json)
    }

    package mutating func nullable<Value: MemberValue>(
        _ name: StaticString, _: @autoclosure () -> MemberForm, _ value: inout Value?
    ) throws(ReplyError) {
        guard let json = object[name] else { throw .missing(name.description) }
        if !json.isNull { value = try read(name, json) }
    }

    package mutating func point(_ value: inout MapPoint) throws(ReplyError) {
        guard let point = try point() else { throw .missing("latitude") }
        value = point
    }

    package mutating func optionalPoint(_ value: inout MapPoint?) throws(ReplyError) {
        value = try point()
    }

    /// The place of the object, in degrees or in another system; `nil` without one.
    private func point() throws(ReplyError) -> MapPoint? {
        if let x = object["x"], let y = object["y"] {
            if x.isNull, y.isNull { return .outside }
            return .planar(x: try read("x", x), y: try read("y", y))
        }
        guard let latitude = object["latitude"], let longitude = object["longitude"] else { return nil }
        return .degrees(latitude: try read("latitude", latitude), longitude: try read("longitude", longitude))
    }

    private func read<Value: MemberValue>(_ name: StaticString, _ json: JSONValue) throws(ReplyError) -> Value {
        guard let value = try Value.read(json) else { throw .unexpected(name.description) }
        return value
    }
}
