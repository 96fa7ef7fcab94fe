/// The writer's result of a command, in the form that the standing keeps for a repeated request. A caller who uses it
/// sends an ``Order``, which knows the type.
package enum CommandReply: Hashable, Sendable {
    case done
    case person(PersonID)
    case device(DeviceID)
    case token(TokenID)
    case grant(GrantID)
    case link(LinkID)
    case region(RegionID)
    case invitation(InvitationID)
    case accountInvitation(AccountInvitationID)
    case schedule(ScheduleID)
    case webhook(WebhookID)
    case correction(CorrectionID)
    case importing(ImportID)
    /// One outcome for each report, in their order.
    case fixes([FixOutcome])
    /// As ``fixes(_:)``, with the person and device that were added first.
    case imported(ImportOutcome)
    case query(QueryID)
    /// One order for each device that can be woken.
    case pushes([PushOrder])
    case erased(PersonID)
}

extension CommandReply {
    // The replies of several commands.
    var grant: GrantID? { if case .grant(let id) = self { id } else { nil } }
    var token: TokenID? { if case .token(let id) = self { id } else { nil } }
    var pushes: [PushOrder]? { if case .pushes(let orders) = self { orders } else { nil } }

    /// The kind and number of the created thing, as a saved request has them; 0 for other results.
    var code: (kind: Int64, id: Int64) {
        switch self {
        case .token(let id): (1, id.rawValue)
        case .grant(let id): (2, id.rawValue)
        case .invitation(let id): (3, id.rawValue)
        case .schedule(let id): (4, id.rawValue)
        case .correction(let id): (5, id.rawValue)
        case .accountInvitation(let id): (6, id.rawValue)
        case .webhook(let id): (7, id.rawValue)
        case .link(let id): (8, id.rawValue)
        case .importing(let id): (9, id.rawValue)
        case .done, .person, .device, .region, .fixes, .imported, .query, .pushes, .erased: (0, 0)
        }
    }

    init?(kind: Int64, id: Int64) {
        switch kind {
        case 0: self = .done
        case 1: self = .token(TokenID(rawValue: id))
        case 2: self = .grant(GrantID(rawValue: id))
        case 3: self = .invitation(InvitationID(rawValue: id))
        case 4: self = .schedule(ScheduleID(rawValue: id))
        case 5: self = .correction(CorrectionID(rawValue: id))
        case 6: self = .accountInvitation(AccountInvitationID(rawValue: id))
        case 7: self = .webhook(WebhookID(rawValue: id))
        case 8: self = .link(LinkID(rawValue: id))
        case 9: self = .importing(ImportID(rawValue: id))
        default: return nil
        }
    }
}
