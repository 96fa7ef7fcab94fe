import TestSupport
import Whereabouts

/// Writes `events.cddl` (RFC 8610) from the declarations of the facts.
struct EventDescription {
    /// The rules of sealed parts and the named types, in the order of their first use.
    private var contents: [(name: String, maps: [DescribedMap])] = []
    /// The clear parts that have several variants.
    private var clears: [(name: String, maps: [DescribedMap])] = []
    private var types: [(name: String, definition: String, note: String?)] = []

    /// The whole file.
    static var text: String {
        var description = EventDescription()
        let kinds = EventKind.allCases.filter { $0.fact != nil }.sorted { $0.rawValue < $1.rawValue }
        let facts = kinds.map { description.rule(of: $0) }
        let clears = description.clears.map { "\($0.name) = \(Self.join($0.maps))" }
        let contents = description.contents.map { "\($0.name) = \(Self.join($0.maps))" }
        let types = description.types.map { type in
            type.note.map { "; \($0)\n" }.map { "\($0)\(type.name) = \(type.definition)" }
                ?? "\(type.name) = \(type.definition)"
        }
        return """
            ; The bytes of events (RFC 8610). CBOR is in the core deterministic encoding of RFC 8949 section 4.2.1 throughout.
            ; The Events page beside this file explains what each event means. The folder `Facts` of the sources declares the
            ; fields, and a test writes this file from them. A form that was ever stored stays here for ever.

            ; An event: the number of its kind, the clear part, and the plaintexts of the sealed parts.
            event = \(kinds.map(\.name).joined(separator: "\n    / "))

            \(facts.joined(separator: "\n"))

            ; The column `body` of the log: the clear part, then each sealed part.
            body = [clear: { * uint => any }, * sealed]
            sealed = [key: ordinal, nonce: bstr .size 12, ciphertext-and-tag: bstr]

            ; The canonical header. The associated data of a sealed part are its bytes without the last item, followed by one byte,
            ; the part's index from 0. leaf = SHA-256(0x00 || header || SHA-256(body)).
            header = [
                1, event-number, stream: uint, version: ordinal, kind: ordinal, recorded-at: moment, actor: principal,
                correlation: identifier, cause: uint, previous-leaf-of-the-stream: hash / bstr .size 0,
            ]

            ; Clear parts of which there are several.
            \(clears.joined(separator: "\n"))

            ; Plaintexts of sealed parts.
            \(contents.joined(separator: "\n"))

            ; Types.
            \(types.joined(separator: "\n"))

            """
    }

    /// The rule of a kind: its number, the map of each variant, and its parts.
    private mutating func rule(of kind: EventKind) -> String {
        var maps: [DescribedMap] = []
        var lists: [[DescribedPart]] = []
        for stream in [StreamID.audit(PersonID(rawValue: 2)), .house] where kind.fact?.can(beIn: stream) == true {
            let script = Script()
            repeat {
                // A variant whose random values do not fit together is tried again.
                while true {
                    script.restart()
                    var fact = DescribedFact(in: stream, script)
                    guard (try? kind.fact?.visit(nil, &fact)) != nil else { continue }
                    if !maps.contains(fact.clear.map) { maps.append(fact.clear.map) }
                    lists.append(fact.parts)
                    for part in fact.parts { note(part) }
                    note(fact.clear.map)
                    break
                }
            } while script.advance()
        }
        let count = lists.map(\.count).max() ?? 0
        var parts = (0..<count).map { index in
            let isAlways = lists.allSatisfy { $0.count > index && !$0[index].isOptional }
            return (isAlways ? "" : "? ") + (lists.first { $0.count > index }?[index].rule ?? "")
        }
        // `? a, ? a` means the same, but not every reader of this language takes the second one.
        if count > 1, let first = parts.first, first.hasPrefix("? "), parts.allSatisfy({ $0 == first }) {
            parts = ["0*\(count) \(first.dropFirst(2))"]
        }
        var clear = Self.join(maps)
        if maps.count > 1 {
            // For example `clear-webhook-settled`.
            clear = "clear" + kind.name.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
            clears.append((clear, maps))
        }
        return "\(kind.name) = [\(kind.rawValue), \(clear), [\(parts.joined(separator: ", "))]]"
    }

    private mutating func note(_ part: DescribedPart) {
        note(part.map)
        guard let index = contents.firstIndex(where: { $0.name == part.rule }) else {
            return contents.append((part.rule, [part.map]))
        }
        if !contents[index].maps.contains(part.map) { contents[index].maps.append(part.map) }
    }

    private mutating func note(_ map: DescribedMap) {
        for form in map.lines.map(\.form) {
            guard let definition = form.definition, !types.contains(where: { $0.name == form.type }) else { continue }
            types.append((form.type, definition, form.note))
            if definition == "ordinal", !types.contains(where: { $0.name == definition }) {
                types.append((definition, "1..9223372036854775807", nil))
            }
        }
    }

    private static func join(_ maps: [DescribedMap]) -> String { maps.map(\.text).joined(separator: " / ") }
}

/// One map of fields, as `events.cddl` has it.
struct DescribedMap: Equatable {
    struct Line: Equatable {
        let key: Int64
        let isOptional: Bool
        let form: FieldForm
        let value: String
        let note: String

        static func == (a: Line, b: Line) -> Bool {
            (a.key, a.isOptional, a.value, a.note) == (b.key, b.isOptional, b.value, b.note)
        }
    }

    var lines: [Line] = []

    var text: String {
        if lines.isEmpty { return "{}" }
        let texts = lines.map { line in
            "    \(line.isOptional ? "? " : "")\(line.key): \(line.value),\(line.note.isEmpty ? "" : "  ; \(line.note)")\n"
        }
        return "{\n\(texts.joined())}"
    }
}

/// A sealed part, as `events.cddl` has it.
struct DescribedPart {
    let rule: String
    let isOptional: Bool
    let map: DescribedMap
}

/// Goes through all variants of a fact: the decisions so far, and how many ways each of them had.
final class Script {
    private var taken: [Int] = []
    private var counts: [Int] = []
    private var place = 0

    /// Begins the same variant again.
    func restart() { place = 0 }

    /// The way to take at the next decision.
    func next(of count: Int) -> Int {
        if place == taken.count {
            taken.append(0)
            counts.append(count)
        }
        defer { place += 1 }
        return taken[place]
    }

    /// Goes to the next variant; `false` after the last.
    func advance() -> Bool {
        while let last = taken.popLast(), let count = counts.popLast() {
            if last + 1 < count {
                taken.append(last + 1)
                counts.append(count)
                return true
            }
        }
        return false
    }
}

/// Collects the fields that a fact declares. The values are random.
struct DescribedFact: FactVisitor {
    typealias Failure = Unfit

    var clear: DescribedFields
    private(set) var parts: [DescribedPart] = []
    private var sample: SampledFact

    init(in stream: StreamID, _ script: Script) {
        sample = SampledFact(in: stream, random: AnyEvent(random: SplitMix(.random(in: 0...(.max)))))
        clear = DescribedFields(sample: sample.clear, script)
    }

    func subject(_ given: PersonID?) throws(Unfit) -> PersonID { try sample.subject(given) }

    func knownSubject(
        _ label: @autoclosure () -> Label?, _ given: PersonID?
    ) -> PersonID? { sample.knownSubject(label(), given) }

    mutating func part<Content: SealedContent>(
        _: KeyClass, of person: PersonID?, _: Part<Content>?
    ) throws(Unfit) -> Part<Content> { .open(try content(isOptional: false)) }

    mutating func optionalPart<Content: SealedContent>(
        _: KeyClass, of person: PersonID?, _: Part<Content>?
    ) throws(Unfit) -> Part<Content>? { .open(try content(isOptional: true)) }

    private mutating func content<Content: SealedContent>(isOptional: Bool) throws(Unfit) -> Content {
        var fields = DescribedFields(sample: clear.sample, clear.script)
        let content = try Content.visit(nil, &fields)
        clear.sample = fields.sample
        parts.append(DescribedPart(rule: Content.rule, isOptional: isOptional, map: fields.map))
        return content
    }
}

/// Collects the fields of one map.
struct DescribedFields: FieldVisitor {
    typealias Failure = Unfit

    var map = DescribedMap()
    var sample: SampledFields
    let script: Script

    init(sample: SampledFields, _ script: Script) { (self.sample, self.script) = (sample, script) }

    private mutating func add(_ key: Int64, _ label: Label, _ form: FieldForm, _ value: String? = nil, isOptional: Bool)
    {
        // A name equal to that of the type is left out.
        let name = label.name == form.type ? nil : label.name
        let note = [name, label.note, label.absent.map { "absent: \($0)" }].compactMap { $0 }
        map.lines.append(
            .init(
                key: key, isOptional: isOptional, form: form, value: value ?? form.type,
                note: note.joined(separator: "; ")))
    }

    mutating func required<Value: FieldValue>(
        _ key: Int64, _ label: @autoclosure () -> Label, _ given: Value?
    ) throws(Unfit) -> Value {
        add(key, label(), label().form ?? Value.form, isOptional: false)
        return try sample.required(key, label(), given)
    }

    mutating func optional<Value: FieldValue>(
        _ key: Int64, _ label: @autoclosure () -> Label, _ given: Value?
    ) throws(Unfit) -> Value? {
        add(key, label(), label().form ?? Value.form, isOptional: true)
        return try sample.optional(key, label(), given)
    }

    mutating func mark(_ key: Int64, _ label: @autoclosure () -> Label, _ given: Bool?) -> Bool {
        add(key, label(), Bool.form, "true", isOptional: true)
        return sample.mark(key, label(), given)
    }

    mutating func choice<Value: IntegerValue & CaseIterable>(
        _ key: Int64, _ label: @autoclosure () -> Label, _: Value?
    ) -> Value {
        let cases = Array(Value.allCases)
        let value = cases[script.next(of: cases.count)]
        let word = (value as? any WordValue)?.word ?? label().name
        add(key, Label(word), Int64.form, "\(value.rawValue)", isOptional: false)
        return value
    }

    mutating func either(_ keys: [Int64], _: Int?) -> Int { script.next(of: keys.count) }

    mutating func shape<Shape: FieldShape>(_ given: Shape?) throws(Unfit) -> Shape {
        add(Shape.self, isOptional: false)
        return try sample.shape(given)
    }

    mutating func optionalShape<Shape: FieldShape>(_ given: Shape?) throws(Unfit) -> Shape? {
        add(Shape.self, isOptional: true)
        return try sample.shape(given)
    }

    private mutating func add<Shape: FieldShape>(_: Shape.Type, isOptional: Bool) {
        for field in Shape.forms[script.next(of: Shape.forms.count)] {
            add(field.key, Label(field.note), field.form, isOptional: isOptional || field.isOptional)
        }
    }

    func whole<Value>(_ value: Value?) throws(Unfit) -> Value { try sample.whole(value) }
}

extension Fact {
    /// Whether the fact can be in a stream of this sort. A fact in an audit may be in a track as well.
    fileprivate static func can(beIn stream: StreamID) -> Bool {
        streams.contains(.house) && stream == .house || !streams.isDisjoint(with: [.audit, .track]) && stream != .house
    }
}
