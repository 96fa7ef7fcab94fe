/// The named schemas of the API, so that a code generator makes one class for each.
///
/// Every object with members gets a name, at any depth, and is referred to by it. The name of an object in a member
/// combines both names: `circle` of `Region` is `RegionCircle`, an item of `rows` of `ProjectionDifference` is
/// `ProjectionDifferenceRow`.
struct SchemaCatalog {
    /// The schemas with their names, each before those of its members.
    private(set) var schemas: [(key: String, value: JSONTree)] = []

    /// A catalog of the schemas in ``Schema/named``.
    init() {
        for (name, schema) in Schema.named {
            // Added before its members' schemas, so that the order of the catalog is top-down.
            schemas.append((name, schema))
            let place = schemas.count - 1
            schemas[place].value = membersNamed(schema, in: name)
        }
    }

    /// The schema with a reference for each object in it.
    ///
    /// - Parameters:
    ///   - name: The name of the object, or of the items if the schema is an array.
    ///   - item: The name of the items of a page.
    mutating func named(_ schema: JSONTree, _ name: String, item: String? = nil) -> JSONTree {
        if schema["$ref"] != nil { return schema }
        var schema = schema
        if let item, case .object(let properties)? = schema["properties"] {
            schema = schema.replacing(
                "properties",
                .object(
                    properties.map { key, value in
                        guard key == "items", let items = value["items"] else { return (key, value) }
                        return (key, value.replacing("items", named(items, item)))
                    }))
        }
        let made = membersNamed(schema, in: name)
        guard case .object(let properties)? = made["properties"], !properties.isEmpty else { return made }
        let known = schemas.first { $0.key == name }
        precondition(known.map { $0.value == made } ?? true, "Two schemas are called \(name).")
        if known == nil { schemas.append((name, made)) }
        return Schema.ref(name)
    }

    /// The members of an object, or of the object that a reference names; `nil` for any other schema.
    func members(of schema: JSONTree) -> Set<String>? {
        var schema = schema
        if case .text(let reference)? = schema["$ref"] {
            let name = reference.split(separator: "/").last.map(String.init)
            guard let found = schemas.first(where: { $0.key == name }) else { return nil }
            schema = found.value
        }
        guard case .object(let properties)? = schema["properties"] else { return nil }
        return Set(properties.map(\.key))
    }

    /// The schema with a name for each object among its members, items or choices.
    private mutating func membersNamed(_ schema: JSONTree, in name: String) -> JSONTree {
        guard case .object(let members) = schema else { return schema }
        return .object(
            members.map { key, value in
                switch key {
                case "properties":
                    guard case .object(let properties) = value else { return (key, value) }
                    return (
                        key,
                        .object(
                            properties.map { member, schema in
                                (member, named(schema, name + Self.capitalized(member, isItem: schema["items"] != nil)))
                            })
                    )
                case "items", "additionalProperties": return (key, named(value, name))
                case "anyOf", "oneOf":
                    guard case .list(let choices) = value else { return (key, value) }
                    return (key, .list(choices.map { named($0, name) }))
                default: return (key, value)
                }
            })
    }

    /// The member's part of a name, without the plural's `s` for an item.
    private static func capitalized(_ member: String, isItem: Bool) -> String {
        let word = isItem && member.hasSuffix("s") ? member.dropLast() : member[...]
        return word.prefix(1).uppercased() + word.dropFirst()
    }
}
