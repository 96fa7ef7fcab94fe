/// An id that is a number.
package protocol Numbered: Hashable, Sendable {
    /// The number.
    var rawValue: Int64 { get }
    /// The id with this number.
    init(rawValue: Int64)
}

/// An id of one kind of thing, counted across all people. How facts store it is in `Facts.swift`.
package protocol HouseID: Numbered, Comparable, CountedInHouse {
    /// The kind of the references that people see instead.
    static var kind: HouseNumber.Kind { get }
}

extension HouseID {
    package var houseNumber: HouseNumber? { HouseNumber(kind: Self.kind, rawValue: rawValue) }
}

/// A number that counts things or events of the whole house. Two of them show how much happened in between, so people
/// see a reference instead.
package struct HouseNumber: Hashable, Sendable {
    /// The kind of thing that a reference names. The raw value is part of the reference, so it never changes.
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// An event of the log.
        case event = 1
        /// A place in the log, up to which an answer has read.
        case place = 2
        case grant = 3
        case invitation = 4
        case accountInvitation = 5
        case token = 6
        case webhook = 7
        case deadLetter = 8
        case correction = 9
        case schedule = 10
        /// The last row of a page.
        case row = 11
        /// The last row of a page, if it is an act of the operator, which has no number that people see.
        case act = 12
        /// A thing that has a name and is also counted, such as a region or a device.
        case thing = 13
        /// A person or a device, in an entry of a person's log.
        case principal = 14
        case link = 15
    }

    package let kind: Kind
    package let rawValue: Int64

    package init(kind: Kind, rawValue: Int64) { (self.kind, self.rawValue) = (kind, rawValue) }

    /// The number of an event.
    package static func event(_ number: Int64) -> HouseNumber { HouseNumber(kind: .event, rawValue: number) }
}

/// A value that is a ``HouseNumber``.
package protocol CountedInHouse {
    /// The number; `nil` if the value names nothing.
    var houseNumber: HouseNumber? { get }
}

/// An actor, as an integer without meaning outside the log: 0 is the house itself, 1 the operator. Persons and devices
/// have numbers from 2 on, in the order in which they were added.
package struct PrincipalID: HouseID {
    package static let kind = HouseNumber.Kind.principal
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// The service itself.
    package static let house = PrincipalID(rawValue: 0)
    /// The operator.
    package static let `operator` = PrincipalID(rawValue: 1)
    /// The first person or device.
    package static let first = PrincipalID(rawValue: 2)
    package static func < (a: PrincipalID, b: PrincipalID) -> Bool { a.rawValue < b.rawValue }
}

/// A person, who can be asked about and can ask.
package struct PersonID: HouseID {
    package static let kind = HouseNumber.Kind.principal
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// The person as an actor.
    package var principal: PrincipalID { .init(rawValue: rawValue) }
    package static func < (a: PersonID, b: PersonID) -> Bool { a.rawValue < b.rawValue }
}

/// A phone or tracker of one person.
package struct DeviceID: HouseID {
    package static let kind = HouseNumber.Kind.principal
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// The device as an actor.
    package var principal: PrincipalID { .init(rawValue: rawValue) }
    package static func < (a: DeviceID, b: DeviceID) -> Bool { a.rawValue < b.rawValue }
}

/// A grant, numbered from 1 in the order given.
package struct GrantID: HouseID {
    package static let kind = HouseNumber.Kind.grant
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: GrantID, b: GrantID) -> Bool { a.rawValue < b.rawValue }
}

/// An invitation, numbered from 1 in the order made; its code is never stored.
package struct InvitationID: HouseID {
    package static let kind = HouseNumber.Kind.invitation
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: InvitationID, b: InvitationID) -> Bool { a.rawValue < b.rawValue }
}

/// An invitation to an account, by the number of the event that made it; its code is never stored.
package struct AccountInvitationID: HouseID {
    package static let kind = HouseNumber.Kind.accountInvitation
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: AccountInvitationID, b: AccountInvitationID) -> Bool { a.rawValue < b.rawValue }
}

/// A region of a person, numbered from 1 in the order added; its name is ``Region/identifier``.
package struct RegionID: HouseID {
    package static let kind = HouseNumber.Kind.thing
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: RegionID, b: RegionID) -> Bool { a.rawValue < b.rawValue }
}

/// A schedule, by the number of the event that set it.
package struct ScheduleID: HouseID {
    package static let kind = HouseNumber.Kind.schedule
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: ScheduleID, b: ScheduleID) -> Bool { a.rawValue < b.rawValue }
}

/// A correction, by the number of the event that made it.
package struct CorrectionID: HouseID {
    package static let kind = HouseNumber.Kind.correction
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: CorrectionID, b: CorrectionID) -> Bool { a.rawValue < b.rawValue }
}

/// A webhook, by the number of the event that added it.
package struct WebhookID: HouseID {
    package static let kind = HouseNumber.Kind.webhook
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: WebhookID, b: WebhookID) -> Bool { a.rawValue < b.rawValue }
}

/// A message that a webhook gave up, by the number of the event that records it.
package struct DeadLetterID: HouseID {
    package static let kind = HouseNumber.Kind.deadLetter
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: DeadLetterID, b: DeadLetterID) -> Bool { a.rawValue < b.rawValue }
}

/// An access token, numbered from 1 in the order issued; the token itself is never stored.
package struct TokenID: HouseID {
    package static let kind = HouseNumber.Kind.token
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: TokenID, b: TokenID) -> Bool { a.rawValue < b.rawValue }
}

/// A share link, as an actor: reads through it are recorded with its principal. Its number is in one row with those
/// of persons and devices.
package struct LinkID: HouseID {
    package static let kind = HouseNumber.Kind.principal
    /// At least 1; no person or device has the same number.
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// The link as an actor.
    package var principal: PrincipalID { .init(rawValue: rawValue) }
    /// The link in the place of a grant's requester.
    package var requester: PersonID { .init(rawValue: rawValue) }
    package static func < (a: LinkID, b: LinkID) -> Bool { a.rawValue < b.rawValue }
}

/// The import of a file into one person's history, by the number of the event that began it.
///
/// All imports of one file have the same ``Standing/Import/id``: a file can hold the histories of several people.
package struct ImportID: HouseID {
    package static let kind = HouseNumber.Kind.event
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: ImportID, b: ImportID) -> Bool { a.rawValue < b.rawValue }
}
