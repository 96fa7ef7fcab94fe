/// The values that a member can have, for the API description. Where a schema has a name there, the form refers to it.
package indirect enum MemberForm: Equatable, Sendable {
    case boolean
    case number
    /// Meters, seconds or another quantity that cannot be negative.
    case length
    /// A number within this range.
    case range(ClosedRange<Double>)
    /// A whole number of at least 0.
    case count
    case integer
    case text
    /// One of these words.
    case words([String])
    case uuid
    /// SHA-256 as 64 hexadecimal digits.
    case hash
    /// The id of a visit or place: 64 bits as 16 hexadecimal digits.
    case visitID
    /// A name of the IANA time zone database.
    case timeZone
    /// The schema of this name.
    case named(String)
    case list(MemberForm)
    case object([Member])
    /// Any JSON object.
    case anyObject
    /// An object whose members are texts, of any name.
    case texts
    case orNull(MemberForm)
    /// A form with an explanation.
    case described(MemberForm, String)

    /// The name of a person or device.
    package static let handle = MemberForm.named("Handle")
    /// Unix seconds with at most three decimals.
    package static let time = MemberForm.named("Time")
    /// An event, a thing or a place in the log, as the caller sees it.
    package static let reference = MemberForm.named("Reference")
}

/// A member of an object of an answer, for the API description.
package struct Member: Equatable, Sendable {
    /// Whether an object has the member.
    package enum Presence: Equatable, Sendable {
        case always
        case sometimes
        /// Always, but the value can be null.
        case orNull
        /// It stands for the members of a place.
        case place
    }

    /// The name; empty for a place.
    package let name: String
    package let form: MemberForm
    package let presence: Presence

    package init(name: String, form: MemberForm, presence: Presence) {
        (self.name, self.form, self.presence) = (name, form, presence)
    }
}

/// Lists the members of an object.
package struct MemberLister: MemberVisitor {
    package typealias Failure = Never

    private var members: [Member] = []

    init() {}

    /// The members of an object, in the order in which they are written.
    package static func members<Object: Reply>(of _: Object.Type) -> [Member] {
        var lister = MemberLister()
        var value = Object.invented
        value.visit(&lister)
        return lister.members
    }

    package mutating func required<Value: MemberValue>(
        _ name: StaticString, _ form: @autoclosure () -> MemberForm, _: inout Value
    ) {
        members.append(Member(name: name.description, form: form(), presence: .always))
    }

    package mutating func optional<Value: MemberValue>(
        _ name: StaticString, _ form: @autoclosure () -> MemberForm, _: inout Value?
    ) {
        members.append(Member(name: name.description, form: form(), presence: .sometimes))
    }

    package mutating func nullable<Value: MemberValue>(
        _ name: StaticString, _ form: @autoclosure () -> MemberForm, _: inout Value?
    ) {
        members.append(Member(name: name.description, form: form(), presence: .orNull))
    }

    package mutating func expected<Value: MemberValue>(
        _ name: StaticString, _ form: @autoclosure () -> MemberForm, _: inout Value?
    ) {
        members.append(Member(name: name.description, form: form(), presence: .always))
    }

    package mutating func point(_: inout MapPoint) {
        members.append(Member(name: "", form: .number, presence: .place))
    }

    package mutating func optionalPoint(_: inout MapPoint?) {
        members.append(Member(name: "", form: .number, presence: .place))
    }
}
