/// The declaration of one kind of event. Each kind has its own file in this folder, and everything that depends on the
/// fields of the kind follows from it: the stored bytes in both directions, `events.cddl`, the operator's JSON, and the
/// random events of the tests. What the audit, the feed and a repeated request show is declared beside the fields.
///
/// A kind that has a person and a sealed note looks like this:
///
///     /// A person put a note beside a visit.
///     enum VisitNoted: Fact {
///         static let kind = EventKind.visitNoted
///         static let streams: FactStreams = .audit
///         static let item: HouseNumber.Kind? = .event
///         static let concerns: FactConcerns = []
///
///         static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
///             var given: (at: Timestamp, note: Part<VisitNote>)?
///             if case .visitNoted(let at, let note)? = event { given = (at, note) }
///             let at = try fact.clear.required(1, "at", given?.at)
///             return .visitNoted(at: at, try fact.part(.rest, given?.note))
///         }
///
///         static func audited(_ recorded: RecordedEvent) -> Audited {
///             .change(SettingChange(item: recorded.number))
///         }
///     }
///
/// ``visit(_:_:)`` names each field once, in ascending order of its key. A writer takes the values of the given event, a
/// reader returns those that are stored, and other visitors only look at keys, names and types.
package protocol Fact: Sendable {
    /// The number and name under which the fact is stored.
    static var kind: EventKind { get }

    /// The streams in which the fact can be.
    static var streams: FactStreams { get }

    /// The kind of thing that ``SettingChange/item`` of the audit row numbers. The list of these things uses the same
    /// reference. ``HouseNumber/Kind/thing`` for one that no list names by a reference, such as a person or a region;
    /// `nil` without such a row.
    static var item: HouseNumber.Kind? { get }

    /// The folds that have a case for the kind, besides those of the standing and the audit. There is no default, so
    /// each new kind must declare it. A fold that lacks the case stops the tests (``Event/isPassedOver(by:)``).
    /// A fold that is not named may not get the event at all, because readers can pass over it (``EventKinds``).
    static var concerns: FactConcerns { get }

    /// Visits the fields and makes an event of the values that the visitor returns.
    ///
    /// - Parameter event: The event whose values the visitor gets; `nil` for a visitor that makes values.
    /// - Throws: The visitor's failure, for example ``CBORError`` if the bytes are not those of this kind.
    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event

    /// What the audit keeps of the event, and the feed shows of it.
    static func audited(_ recorded: RecordedEvent) -> Audited

    /// The result of a command that ended with the event, for a request that is repeated with its key; `nil` if it was
    /// refused. Without an own implementation: ``CommandReply/done``. A kind that makes something gives its number.
    static func reply(to recorded: RecordedEvent) -> CommandReply?

    /// The members that the operator sees. Without an own implementation: the shown fields in the order of their keys.
    static func show(_ event: Event, in shown: inout ShownFields)

    /// Whether the event records that data about a person left the house. Without an own implementation: `false`.
    static func isDisclosure(_ event: Event) -> Bool

    /// The members of the event's entry in the person's own log. Without an own implementation: the shown fields.
    static func prove(_ event: Event, in proven: inout ProvenFields)

    /// Writes the fields. The default is ``visit(_:_:)`` with a writer.
    static func write(_ event: Event, to fact: inout FactWriter)

    /// Reads the fields. The default is ``visit(_:_:)`` with a reader.
    static func read(from fact: inout FactReader) throws(CBORError) -> Event
}

// Each conformance gets its own copy of these, for the concrete visitor: behind `any Fact.Type` is one call through a
// table, and no generic code.
extension Fact {
    package static func reply(to _: RecordedEvent) -> CommandReply? { .done }
    package static func show(_ event: Event, in shown: inout ShownFields) { _ = visit(event, &shown) }
    package static func isDisclosure(_: Event) -> Bool { false }
    package static func prove(_ event: Event, in proven: inout ProvenFields) { _ = visit(event, &proven) }
    package static func write(_ event: Event, to fact: inout FactWriter) { _ = visit(event, &fact) }
    package static func read(from fact: inout FactReader) throws(CBORError) -> Event { try visit(nil, &fact) }
}

/// The streams in which a fact can be.
package struct FactStreams: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The audit of a person.
    package static let audit = FactStreams(rawValue: 1)
    /// The reports of a person's devices.
    package static let track = FactStreams(rawValue: 2)
    /// The stream of the house.
    package static let house = FactStreams(rawValue: 4)
}

/// Folds that look at a few kinds only. The fold of the standing has a case for each kind; the audit follows from
/// ``Fact/audited(_:)``.
package struct FactConcerns: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The newest fix of each device (`CurrentTable`).
    package static let current = FactConcerns(rawValue: 1)
    /// Fixes, visits and crossings (`TimelineTable`, ``TimelineFold``).
    package static let timeline = FactConcerns(rawValue: 2)
    /// The person's feed, beyond the items of the audit (`PersonFeed`).
    package static let feed = FactConcerns(rawValue: 4)
    /// The habits of askers (``AskPatterns``).
    package static let patterns = FactConcerns(rawValue: 8)
    /// The operator's counts, beyond one for each kind (`EventTally`).
    package static let tally = FactConcerns(rawValue: 16)
    /// Waiting pushes, which such an event can make unwanted (``Event/mayForbidPushes``).
    package static let pushes = FactConcerns(rawValue: 32)
    /// The envelopes of a person (`EnvelopeTable`).
    package static let envelopes = FactConcerns(rawValue: 64)
}

/// Takes the fields of a fact: writes, reads, shows, describes or invents them.
package protocol FactVisitor {
    /// What can go wrong; `Never` for visitors that get their values.
    associatedtype Failure: Error
    /// The visitor of one map of fields.
    associatedtype Fields: FieldVisitor where Fields.Failure == Failure

    /// The part that is stored as it is.
    var clear: Fields { get set }

    /// The person whose stream it is. It is not stored again.
    mutating func subject(_ given: PersonID?) throws(Failure) -> PersonID

    /// The person whose stream it is, or `nil` in the stream of the house. It is not stored again.
    ///
    /// - Parameter label: The member in the operator's JSON; `nil` if it has none.
    mutating func knownSubject(
        _ label: @autoclosure () -> Label?, _ given: PersonID?
    ) throws(Failure) -> PersonID?

    /// A part that is sealed under a key of `person`.
    ///
    /// - Parameters:
    ///   - keyClass: What erases it: retention erases the track earlier than the rest.
    ///   - person: Whose key it is; `nil` for the person whose stream it is.
    mutating func part<Content: SealedContent>(
        _ keyClass: KeyClass, of person: PersonID?, _ given: Part<Content>?
    ) throws(Failure) -> Part<Content>

    /// A part that need not be there, after all others.
    mutating func optionalPart<Content: SealedContent>(
        _ keyClass: KeyClass, of person: PersonID?, _ given: Part<Content>?
    ) throws(Failure) -> Part<Content>?
}

extension FactVisitor {
    /// A part that is sealed under a key of the person whose stream it is.
    mutating func part<Content: SealedContent>(
        _ keyClass: KeyClass, _ given: Part<Content>?
    ) throws(Failure) -> Part<Content> { try part(keyClass, of: nil, given) }

    /// A part that need not be there, under a key of the person whose stream it is.
    mutating func optionalPart<Content: SealedContent>(
        _ keyClass: KeyClass, _ given: Part<Content>?
    ) throws(Failure) -> Part<Content>? { try optionalPart(keyClass, of: nil, given) }
}
