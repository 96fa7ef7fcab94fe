import Log
package import Whereabouts

/// The handles of principals in an answer. An erased person has none.
///
/// Each look-up reads the present standing, so an answer shows current handles, not those at the time of the event.
package struct PrincipalNames {
    private let decisions: Decisions

    package init(_ decisions: Decisions) { self.decisions = decisions }

    /// The handle of a person or device, `operator`, `house`, or a share link as its owner knows it; `nil` for an erased
    /// one.
    package func name(_ principal: PrincipalID) -> String? {
        switch principal {
        case .house: "house"
        case .operator: "operator"
        default:
            decisions.log.withStanding { $0.name(of: principal) }
        }
    }

    /// The handle of a device; `nil` if its person is erased.
    package func name(_ device: DeviceID) -> String? { name(device.principal) }
}

extension Standing {
    /// The handle of a person or device, or the name of a share link as its owner knows it. `nil` for an erased one.
    package func name(of principal: PrincipalID) -> String? {
        persons[PersonID(rawValue: principal.rawValue)]?.handle?.text
            ?? devices[DeviceID(rawValue: principal.rawValue)]?.handle?.text
            ?? links[LinkID(rawValue: principal.rawValue)]?.requesterName
    }
}
