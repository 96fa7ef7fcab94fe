/// The state that decisions read: persons and devices, their rights, and open questions. It is a fold of the log like
/// any other. The writer keeps it in memory, a file saves it between starts, and it equals a refold at every number.
///
/// It consists of registers, one for each subject. The file of a register has its table and its indexes, its changes by
/// events, its rest after an erasure, and its rows in the saved standing. Registers are changed in place.
package struct Standing: Sendable, Equatable {
    /// How far the log is folded.
    package internal(set) var progress = Progress()
    /// The persons, also erased ones.
    package internal(set) var persons = Persons()
    /// The devices, also removed ones.
    package internal(set) var devices = Devices()
    /// The access tokens, also revoked ones.
    package internal(set) var tokens = Tokens()
    /// The grants that are not revoked.
    package internal(set) var grants = Grants()
    /// The invitations whose codes can be redeemed.
    package internal(set) var invitations = Invitations()
    /// The regions of all persons.
    package internal(set) var regions = Regions()
    /// The queries that the service asks at intervals.
    package internal(set) var schedules = Schedules()
    /// The targets that persons' feeds are posted to.
    package internal(set) var webhooks = Webhooks()
    /// The share links of all persons, also ended ones.
    package internal(set) var links = ShareLinks()
    /// The queries under way, and those that ended not long ago.
    package internal(set) var queries = Queries()
    /// The requests that count against a limit or can be repeated.
    package internal(set) var requests = Requests()

    /// How long reports are kept.
    package internal(set) var retention: Retention {
        get { persons.retention }
        _modify { yield &persons.retention }
    }

    /// The keys with which fixes are sealed end to end.
    package internal(set) var sealingKeys: SealingKeys {
        get { persons.sealingKeys }
        _modify { yield &persons.sealingKeys }
    }

    /// The standing of an empty log.
    package init() {}
}
