import Geodesy

/// The content of an entry in a person's own log: the part of one event of their audit that the person may see.
///
/// The content is a function of the event alone, and must stay it: a person's log commits to the bytes, so a content
/// that changed later would look like a forgery. The golden file of `ProvenFieldsTests` holds one of each kind. A new
/// field of a kind is optional, and absent in older events.
///
/// It is a CBOR map in deterministic encoding (RFC 8949, section 4.2.1) whose keys are the names of the members:
/// `event`, `number` and `actor`, then the fields that the declaration of the kind names. For example
///
///     {"actor": "r5nq…", "event": "LocationQueried", "number": "r8Vu…", "query": "6b1c…", "purpose": "late for
///      dinner", "verdict": "granted", "grant": "rk0T…", "requester": "r5nq…", …}
///
/// - Numbers of the house are references, the house and the operator the words `house` and `operator`, times
///   milliseconds since 1970 UTC, enumerations words.
/// - A part under another person's key is left out: it could not be opened any more after that person's erasure. So are
///   secrets, and how far a read was folded, which counts other people's events.
/// - A value with a special form, such as a region, is the member `detail`, a map with the keys under which it is
///   stored.
package struct ProvenFields: FactVisitor, FieldVisitor {
    package typealias Failure = Never

    /// Why an event has no content.
    package enum Absence: Error, Sendable {
        /// The event is not in the audit of a person.
        case notAudited
        /// A part of it cannot be opened any more.
        case sealed
    }

    /// A member whose value is an encoded item.
    private struct Member {
        let name: [UInt8]
        let item: [UInt8]
    }

    private var members: [Member] = []
    private var isSealed = false
    private let subject: PersonID
    private let reference: (HouseNumber) -> String

    /// The content of an event.
    ///
    /// - Parameter reference: How the person sees a number of the house; always the same for the same number.
    /// - Throws: ``Absence``.
    package static func content(
        of recorded: RecordedEvent, reference: (HouseNumber) -> String
    ) throws(Absence) -> [UInt8] {
        guard let subject = recorded.stream.person, !recorded.stream.isTrack, let fact = recorded.event.kind.fact else {
            throw .notAudited
        }
        return try withoutActuallyEscaping(reference) { reference throws(Absence) in
            var fields = ProvenFields(of: subject, reference)
            fields.add("event", text: recorded.event.kind.name)
            fields.add("number", .event(recorded.number))
            if let actor = recorded.actor.houseNumber { fields.add("actor", actor) }
            fact.prove(recorded.event, in: &fields)
            guard !fields.isSealed else { throw .sealed }
            return fields.map
        }
    }

    private init(of subject: PersonID, _ reference: @escaping (HouseNumber) -> String) {
        (self.subject, self.reference) = (subject, reference)
    }

    /// The members in the order of their encoded keys.
    private var map: [UInt8] {
        var writer = CBORWriter(capacity: 256)
        writer.map(members.count)
        // A longer text has a greater head, and up to 23 bytes one byte of it.
        let sorted = members.sorted { first, second in
            first.name.count == second.name.count
                ? first.name.lexicographicallyPrecedes(second.name) : first.name.count < second.name.count
        }
        for member in sorted {
            writer.text(String(decoding: member.name, as: UTF8.self))
            writer.raw(member.item)
        }
        return writer.finish()
    }

    // MARK: Members

    private mutating func add(_ name: String, _ write: (inout CBORWriter) -> Void) {
        var writer = CBORWriter()
        write(&writer)
        members.append(Member(name: Array(name.utf8), item: writer.finish()))
    }

    private mutating func add(_ name: String, text: String) { add(name) { $0.text(text) } }

    private mutating func add(_ name: String, _ number: HouseNumber) {
        switch number {
        case PrincipalID.house.houseNumber: add(name, text: "house")
        case PrincipalID.operator.houseNumber: add(name, text: "operator")
        default: add(name, text: reference(number))
        }
    }

    private mutating func add<Value: FieldValue>(_ label: Label, _ value: Value) {
        // How far a read was folded counts events of other people.
        guard label.isShown, label.name != "asOf" else { return }
        if let numbered = value as? any CountedInHouse {
            if let number = numbered.houseNumber { add(label.name, number) }
        } else if let number = value as? Int64, label.form?.type == FieldForm.eventNumber.type {
            add(label.name, .event(number))
        } else if case .granted(let grant)? = value as? Verdict {
            add(label.name, text: "granted")
            if let number = grant.houseNumber { add("grant", number) }
        } else {
            var shown = ShownFields.none
            value.show(as: label.name, in: &shown)
            for field in shown.all { add(field.name, field.value) }
        }
    }

    /// Adds a member with a value of a form that all members have.
    mutating func add(_ name: String, _ value: ShownFields.Value) {
        switch value {
        case .integer(let number): add(name) { $0.integer(number) }
        case .real(let number): add(name) { $0.float(number) }
        case .bool(let value): add(name) { $0.bool(value) }
        case .text(let text): add(name, text: text)
        case .time(let time): add(name) { $0.integer(time.milliseconds) }
        case .texts(let texts):
            add(name) { writer in
                writer.array(texts.count)
                for text in texts { writer.text(text) }
            }
        case .bytes(let bytes): add(name) { $0.byteString(bytes) }
        case .json(let json): add(name, text: String(decoding: json, as: UTF8.self))
        case .fix, .region, .correction, .authorization, .sighting:
            preconditionFailure("A value with a special form is a shape.")
        }
    }

    /// The members that the operator sees of a shape. If they have a special form: the shape as it is stored.
    private mutating func add<Shape: FieldShape>(_ shape: Shape) {
        var shown = ShownFields.none
        shape.show(in: &shown)
        guard shown.all.contains(where: \.value.hasOwnForm) else {
            for field in shown.all { add(field.name, field.value) }
            return
        }
        var fields = FieldWriter()
        shape.write(to: &fields)
        let stored = fields.finish()
        add("detail") { $0.raw(stored) }
    }

    // MARK: The parts of a fact

    package var clear: ProvenFields {
        get { self }
        _modify { yield &self }
    }

    package mutating func subject(_ given: PersonID?) -> PersonID { given.given }

    package mutating func knownSubject(_: @autoclosure () -> Label?, _ given: PersonID?) -> PersonID? { given }

    package mutating func part<Content: SealedContent>(
        _: KeyClass, of person: PersonID?, _ given: Part<Content>?
    ) -> Part<Content> {
        let part = given.given
        guard person == nil || person == subject else { return part }
        switch part {
        case .open(let content): _ = Content.visit(content, &self)
        case .erased, .keyLost: isSealed = true
        }
        return part
    }

    package mutating func optionalPart<Content: SealedContent>(
        _ keyClass: KeyClass, of person: PersonID?, _ given: Part<Content>?
    ) -> Part<Content>? { given.map { part(keyClass, of: person, $0) } }

    // MARK: Fields

    package mutating func required<Value: FieldValue>(
        _: Int64, _ label: @autoclosure () -> Label, _ given: Value?
    ) -> Value {
        let value = given.given
        add(label(), value)
        return value
    }

    package mutating func optional<Value: FieldValue>(
        _: Int64, _ label: @autoclosure () -> Label, _ given: Value?
    ) -> Value? {
        if let given { add(label(), given) }
        return given
    }

    package mutating func mark(_: Int64, _ label: @autoclosure () -> Label, _ given: Bool?) -> Bool {
        let value = given.given
        add(label(), value)
        return value
    }

    package mutating func shape<Shape: FieldShape>(_ given: Shape?) -> Shape {
        let shape = given.given
        add(shape)
        return shape
    }

    package mutating func optionalShape<Shape: FieldShape>(_ given: Shape?) -> Shape? {
        if let given { add(given) }
        return given
    }
}

extension ShownFields.Value {
    /// Whether the operator's JSON writes the value in its own way.
    fileprivate var hasOwnForm: Bool {
        switch self {
        case .integer, .real, .bool, .text, .time, .texts, .bytes, .json: false
        case .fix, .region, .correction, .authorization, .sighting: true
        }
    }
}
