import Whereabouts

/// Random values that do not make an event together.
struct Unfit: Error {}

/// Makes random values for the fields of a fact.
struct SampledFact: FactVisitor {
    typealias Failure = Unfit

    var clear: SampledFields
    let stream: StreamID

    init(in stream: StreamID, random: AnyEvent) {
        self.stream = stream
        clear = SampledFields(random: random, person: stream.person)
    }

    func subject(_: PersonID?) throws(Unfit) -> PersonID {
        guard let person = stream.person else { throw Unfit() }
        return person
    }

    func knownSubject(_: @autoclosure () -> Label?, _: PersonID?) -> PersonID? { stream.person }

    mutating func part<Content: SealedContent>(
        _: KeyClass, of person: PersonID?, _: Part<Content>?
    ) throws(Unfit) -> Part<Content> {
        guard person ?? stream.person != nil else { throw Unfit() }
        return .open(try Content.visit(nil, &clear))
    }

    mutating func optionalPart<Content: SealedContent>(
        _ keyClass: KeyClass, of person: PersonID?, _: Part<Content>?
    ) throws(Unfit) -> Part<Content>? {
        clear.random.maybe({ _ in true }) == nil ? nil : try part(keyClass, of: person, nil)
    }
}

/// Makes random values for the fields of one map.
struct SampledFields: FieldVisitor {
    typealias Failure = Unfit

    var random: AnyEvent
    /// The person whose stream it is, who is also the person that the event names.
    let person: PersonID?

    mutating func required<Value: FieldValue>(
        _ key: Int64, _ label: @autoclosure () -> Label, _: Value?
    ) throws(Unfit) -> Value {
        if let person = person as? Value { return person }
        // Made of bytes, as a reader gets them: so every type needs only its form.
        var writer = CBORWriter()
        writer.map(1)
        writer.integer(key)
        random.write(label().form ?? Value.form, to: &writer)
        let value: Value? = writer.bytes.withUnsafeBytes { bytes in
            guard var fields = try? FieldReader(bytes) else { return nil }
            return try? Value.read(key, from: &fields)
        }
        guard let value else { throw Unfit() }
        return value
    }

    mutating func optional<Value: FieldValue>(
        _ key: Int64, _ label: @autoclosure () -> Label, _ given: Value?
    ) throws(Unfit) -> Value? {
        random.maybe({ _ in true }) == nil ? nil : try required(key, label(), given)
    }

    mutating func mark(_: Int64, _: @autoclosure () -> Label, _: Bool?) -> Bool { random.pick([true, false]) }

    mutating func choice<Value: IntegerValue & CaseIterable>(
        _: Int64, _: @autoclosure () -> Label, _: Value?
    ) -> Value {
        random.pick(Array(Value.allCases))
    }

    mutating func either(_ keys: [Int64], _: Int?) -> Int { random.pick(Array(keys.indices)) }

    mutating func shape<Shape: FieldShape>(_: Shape?) throws(Unfit) -> Shape {
        let shape: Any =
            switch Shape.self {
            case is Fix.Type: random.fix()
            case is Region.Type: random.region()
            case is WeeklyHours.Type: random.hours()
            case is DestroyedKeys.Type: random.destroyedKeys()
            case is KeptNewest.Type: random.keptNewest()
            case is ShardSizes.Type: random.shardSizes()
            default: preconditionFailure("\(Shape.self) has no random values; add them to AnyEvent.")
            }
        guard let shape = shape as? Shape else { throw Unfit() }
        return shape
    }

    mutating func optionalShape<Shape: FieldShape>(_ given: Shape?) throws(Unfit) -> Shape? {
        random.maybe({ _ in true }) == nil ? nil : try shape(given)
    }

    func whole<Value>(_ value: Value?) throws(Unfit) -> Value {
        guard let value else { throw Unfit() }
        return value
    }
}

extension AnyEvent {
    /// Writes a random value of a form.
    fileprivate mutating func write(_ form: FieldForm, to writer: inout CBORWriter) {
        switch form.domain {
        case .integers(let range):
            // Small and large numbers alike, where the range is wide.
            let wide = Double(range.upperBound) - Double(range.lowerBound) > 100_000
            writer.integer(
                wide ? min(range.upperBound, range.lowerBound + ordinal()) : .random(in: range, using: &random))
        case .codes(let codes, let range):
            if let range, Bool.random(using: &random) {
                writer.integer(min(range.upperBound, range.lowerBound + ordinal()))
            } else {
                writer.integer(pick(codes))
            }
        case .bool: writer.bool(.random(using: &random))
        case .text: writer.text(text())
        case .texts(let texts): writer.text(pick(texts))
        case .bytes(let limit): writer.byteString(bytes(upTo: limit))
        case .exactly(let count): writer.byteString((0..<count).map { _ in .random(in: 0...255, using: &random) })
        case .identifier: writer.byteString(identifier().bytes)
        case .hash: writer.byteString(hash().bytes)
        case .moment: writer.integer(time().milliseconds)
        case .real: writer.float(real())
        case .degrees(let limit): writer.float(degrees(limit))
        case .ofShape: preconditionFailure("A shape makes its own values.")
        }
    }
}
