internal import CSupport

/// One value of a ``JSONDocument``, which it keeps alive. Reading copies nothing but strings that are asked for.
package struct JSONValue: Sendable {
    /// The type of a value. JSON has one type of number; an integer is distinguished by its notation.
    package enum Kind: Sendable {
        case null, bool, integer, double, string, array, object
    }

    let document: JSONDocument
    let index: Int

    private var node: json_node { document.nodes[index] }

    /// The type of the value. `integer` is a number written without fraction and exponent.
    package var kind: Kind {
        switch json_kind(node.kind) {
        case json_kind_null: .null
        case json_kind_false, json_kind_true: .bool
        case json_kind_integer, json_kind_unsigned: .integer
        case json_kind_double: .double
        case json_kind_string: .string
        case json_kind_array: .array
        default: .object
        }
    }

    /// Whether the value is `null`; a member that is not there is a `nil` ``JSONValue`` instead.
    package var isNull: Bool { json_kind(node.kind) == json_kind_null }

    /// The truth value, or `nil` if it is none.
    package var bool: Bool? {
        switch json_kind(node.kind) {
        case json_kind_true: true
        case json_kind_false: false
        default: nil
        }
    }

    /// The number, always finite, or `nil` if it is none. Integers beyond ±2⁵³ are rounded to the nearest.
    package var double: Double? {
        let node = node
        return switch json_kind(node.kind) {
        case json_kind_integer: Double(node.value.integer)
        case json_kind_unsigned: Double(node.value.unsigned_integer)
        case json_kind_double: node.value.number
        default: nil
        }
    }

    /// The number if it is a whole one that fits, written `12`, `12.0` or `1.2e1`; else `nil`.
    package var int: Int64? {
        let node = node
        return switch json_kind(node.kind) {
        case json_kind_integer: node.value.integer
        case json_kind_double: Int64(exactly: node.value.number)
        default: nil
        }
    }

    /// The string with its escapes resolved, or `nil` if it is none.
    package var string: String? {
        withUTF8 { String(decoding: $0, as: UTF8.self) }
    }

    /// The elements of an array or members of an object; 0 for any other value.
    package var count: Int {
        let node = node
        return switch json_kind(node.kind) {
        case json_kind_array, json_kind_object: Int(node.value.count)
        default: 0
        }
    }

    /// The elements in the order written, or `nil` if the value is not an array. Nothing is allocated.
    package var array: JSONArray? {
        json_kind(node.kind) == json_kind_array ? JSONArray(value: self, index: index + 1, end: Int(node.next)) : nil
    }

    /// The members in the order written, or `nil` if the value is not an object. Each key is copied.
    package var members: [(key: String, value: JSONValue)]? {
        membersInPlace.map { $0.map { (key: $0.key.string, value: $0.value) } }
    }

    /// As ``members``, without copies: for messages of which many come.
    package var membersInPlace: JSONMembers? {
        json_kind(node.kind) == json_kind_object ? JSONMembers(value: self, index: index + 1, end: Int(node.next)) : nil
    }

    /// The member with this key (compared byte by byte, without Unicode normalization), or `nil` if the value is not
    /// an object or has none. Costs a look at each member before it.
    package subscript(_ key: String) -> JSONValue? {
        var key = key
        return key.withUTF8 { member($0) }
    }

    /// As ``subscript(_:)-(String)``, for a name in the code.
    package subscript(_ key: StaticString) -> JSONValue? {
        member(UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    }

    private func member(_ key: UnsafeBufferPointer<UInt8>) -> JSONValue? {
        guard json_kind(node.kind) == json_kind_object else { return nil }
        var next = index + 1
        let end = Int(node.next)
        while next < end {
            if JSONKey(document: document, index: next).isEqual(to: key) {
                return JSONValue(document: document, index: next + 1)
            }
            next = Int(document.nodes[next + 1].next)
        }
        return nil
    }

    /// Calls `body` with the value as written, without the white space around it.
    ///
    /// - Parameter withKey: Whether the text begins at the value's key. Only for a value from ``members``.
    /// - Precondition: The document was parsed with `keepsText`.
    package func withText<Result>(
        withKey: Bool = false, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        guard let source = document.source else { preconditionFailure("The document does not keep its text.") }
        let begin = Int(document.nodes[withKey ? index - 1 : index].begin)
        return body(UnsafeBufferPointer(start: source + begin, count: Int(node.end) - begin))
    }

    /// A copy of the value as written; as ``withText(withKey:_:)``.
    package var text: [UInt8] { withText { Array($0) } }

    /// The index of the value after this one and all it holds.
    fileprivate var following: Int { Int(node.next) }

    /// Calls `body` with the string in place, its escapes resolved. `nil` if the value is no string.
    package func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
        json_kind(node.kind) == json_kind_string ? body(document.utf8(at: index)) : nil
    }
}

/// The key of a member, in place. A `switch` over it takes names in the code, which are compared byte by byte.
package struct JSONKey: Equatable, Sendable {
    fileprivate let document: JSONDocument
    fileprivate let index: Int

    /// A copy of the key.
    package var string: String { withUTF8 { String(decoding: $0, as: UTF8.self) } }

    /// Calls `body` with the key, its escapes resolved.
    package func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        body(document.utf8(at: index))
    }

    package static func == (left: JSONKey, right: JSONKey) -> Bool {
        right.withUTF8 { left.isEqual(to: $0) }
    }

    package static func == (key: JSONKey, name: StaticString) -> Bool {
        key.isEqual(to: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }

    package static func != (key: JSONKey, name: StaticString) -> Bool { !(key == name) }

    package static func ~= (name: StaticString, key: JSONKey) -> Bool { key == name }

    fileprivate func isEqual(to wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        let key = document.utf8(at: index)
        return key.count == wanted.count && key.elementsEqual(wanted)
    }
}

extension JSONDocument {
    /// - Precondition: The node is a string.
    fileprivate func utf8(at index: Int) -> UnsafeBufferPointer<UInt8> {
        let place = nodes[index].value.string
        return UnsafeBufferPointer(start: text + Int(place.offset), count: Int(place.length))
    }
}

/// The elements of an array, one after the other.
package struct JSONArray: Sequence, IteratorProtocol, Sendable {
    fileprivate let value: JSONValue
    fileprivate var index: Int
    fileprivate let end: Int

    /// The elements not yet passed; exact before the first one is taken.
    package var underestimatedCount: Int { index == value.index + 1 ? value.count : 0 }

    /// The next element, or `nil` after the last.
    package mutating func next() -> JSONValue? {
        guard index < end else { return nil }
        let element = JSONValue(document: value.document, index: index)
        index = element.following
        return element
    }
}

/// The members of an object, one after the other.
package struct JSONMembers: Sequence, IteratorProtocol, Sendable {
    fileprivate let value: JSONValue
    fileprivate var index: Int
    fileprivate let end: Int

    /// The next member, or `nil` after the last.
    package mutating func next() -> (key: JSONKey, value: JSONValue)? {
        guard index < end else { return nil }
        // An object's children alternate between keys, which are strings, and values.
        let key = JSONKey(document: value.document, index: index)
        let member = JSONValue(document: value.document, index: index + 1)
        index = member.following
        return (key, member)
    }
}
