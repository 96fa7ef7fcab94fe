package import Replies

/// Schemas of the objects that ``Reply`` declares.
extension Schema {
    /// The object that a reply is written as: first the members that it always has, then those of a place, then those
    /// that it can lack.
    package static func object<Object: Reply>(of type: Object.Type) -> JSONTree {
        object(MemberLister.members(of: type))
    }

    /// A thing that a request has made, with the number of the event that records it.
    package static func made<Object: Reply>(_ type: Object.Type) -> JSONTree {
        object(of: Recorded<Object>.self)
    }

    /// One page of a list, or all of a short one.
    ///
    /// - Parameter count: The most items, if that is known.
    package static func page<Item: Reply>(of type: Item.Type, atMost count: Int? = nil) -> JSONTree {
        page(of(type.form), atMost: count)
    }

    /// Some members of an object, in their order.
    static func members<Object: Reply>(
        of type: Object.Type, where isWanted: (_ name: String) -> Bool
    ) -> [(key: String, value: JSONTree)] {
        MemberLister.members(of: type).filter { isWanted($0.name) }.flatMap {
            member -> [(key: String, value: JSONTree)] in
            if case .place = member.presence { return [("latitude", latitude), ("longitude", longitude)] }
            return [(member.name, of(member.form))]
        }
    }

    private static func object(_ members: [Member]) -> JSONTree {
        let required = members.compactMap { member -> (key: String, value: JSONTree)? in
            switch member.presence {
            case .always: (member.name, of(member.form))
            case .orNull: (member.name, orNull(of(member.form)))
            case .sometimes, .place: nil
            }
        }
        let optional = members.compactMap { member -> (key: String, value: JSONTree)? in
            if case .sometimes = member.presence { (member.name, of(member.form)) } else { nil }
        }
        let isPlace = members.contains { $0.presence == .place }
        return isPlace ? place(required, optional) : object(required, optional)
    }

    /// The schema of a form.
    private static func of(_ form: MemberForm) -> JSONTree {
        switch form {
        case .boolean: boolean
        case .number: number
        case .length: length
        case .range(let range):
            ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
        case .count: count
        case .integer: ["type": "integer"]
        case .text: text
        case .words(let words): self.words(words)
        case .uuid: uuid
        case .hash: pattern("^[0-9a-f]{64}$")
        case .visitID: visitID
        case .timeZone: timeZone
        case .named(let name): ref(name)
        case .list(let item): list(of(item))
        case .object(let members): object(members)
        case .anyObject: anyObject
        case .texts: ["type": "object", "additionalProperties": text]
        case .orNull(let form): orNull(of(form))
        case .described(let form, let text): of(form).with(["description": .text(text)])
        }
    }
}
